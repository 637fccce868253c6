# tests/judgement/salesmerge.py: what is wrong with it, or not, stands in truth.tsv.
"""salesmerge: reads the sales of a year, cleans them, adds prices and prints the best days."""
import os
import sys
import time

import numpy as np
import pandas as pd

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))
ROWS = 1000000


def read_sales():
    """Stands for the file of the tills."""
    random = np.random.default_rng(4)
    return pd.DataFrame({
        "day": random.integers(0, 365, ROWS),
        "article": random.integers(0, 2000, ROWS),
        "count": random.integers(-1, 9, ROWS),
        "discount": random.random(ROWS),
        "shop": np.arange(ROWS) % 120,
    })


def drop_returns(sales):
    return sales[sales["count"] >= 0].copy()


def add_prices(sales):
    priced = sales.copy()
    priced["price"] = priced["article"] % 50 + 0.99
    priced["sum"] = priced["count"] * priced["price"] * (1 - priced["discount"] * 0.2)
    return priced


def order_by_day(sales):
    return sales.sort_values("day").reset_index(drop=True)


def best_days(sales, n):
    by_day = sales.groupby("day")["sum"].sum()
    return by_day.nlargest(n)


def evaluate():
    raw = read_sales()
    clean = drop_returns(raw)
    priced = add_prices(clean)
    ordered = order_by_day(priced)
    best = best_days(ordered, 5)
    for _ in range(10):
        best = best + ordered["sum"].head(1000).sum() * 0.0
        time.sleep(0.05)
    return best


def main():
    for _ in range(SCALE):
        best = evaluate()
    print(", ".join(f"{day}: {value:.0f}" for day, value in best.items()))


if __name__ == "__main__":
    main()
