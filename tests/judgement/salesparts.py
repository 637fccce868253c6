# tests/judgement/salesparts.py: what is wrong with it, or not, stands in truth.tsv.
"""salesparts: reads the sales of a year part by part, cleans them, adds prices and prints the best days."""
import os
import sys
import time

import numpy as np
import pandas as pd

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))
ROWS = 1000000
PART = 50000


def read_parts():
    """Stands for the file of the tills, which is read in parts."""
    for start in range(0, ROWS, PART):
        random = np.random.default_rng(start)
        yield pd.DataFrame({
            "day": random.integers(0, 365, PART),
            "article": random.integers(0, 2000, PART),
            "count": random.integers(-1, 9, PART),
            "discount": random.random(PART),
            "shop": np.arange(PART) % 120,
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


def sum_by_day(sales):
    return sales.groupby("day")["sum"].sum()


def evaluate():
    total = None
    for raw in read_parts():
        clean = drop_returns(raw)
        priced = add_prices(clean)
        ordered = order_by_day(priced)
        part = sum_by_day(ordered)
        total = part if total is None else total.add(part, fill_value=0.0)
        time.sleep(0.04)
    return total.nlargest(5)


def main():
    for _ in range(SCALE):
        best = evaluate()
    print(", ".join(f"{day}: {value:.0f}" for day, value in best.items()))


if __name__ == "__main__":
    main()
