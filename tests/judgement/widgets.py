# tests/judgement/widgets.py: what is wrong with it, or not, stands in truth.tsv.
"""widgets: opens many widgets; each reads its table once and shows a mean, which is refreshed from time to time."""
import os
import sys
import time

import numpy as np
import pandas as pd

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))


def read_table(number, rows=130000):
    """Stands for a query to the data base."""
    random = np.random.default_rng(number)
    return pd.DataFrame({
        "region": np.arange(rows, dtype=np.int64) % 40,
        "weight": random.random(rows),
        "height": random.random(rows) * 100,
    })


class Page:
    def __init__(self):
        self.widgets = {}

    def add(self, title, show):
        self.widgets[title] = show

    def refresh(self):
        return sum(len(show()) for show in self.widgets.values())


def make_widget(title, table):
    value = float((table["weight"] * table["height"]).mean())
    rows = len(table)

    def show():
        return f"{title}: {value:.2f} kg m in {rows} samples"

    return show


def open_widget(page, number):
    table = read_table(number)
    title = f"widget number {number}"
    page.add(title, make_widget(title, table))


def main():
    page = Page()
    letters = 0
    for number in range(40 * SCALE):
        open_widget(page, number)
        letters += page.refresh()
        time.sleep(0.03)
    print(f"{len(page.widgets)} widgets, {letters} letters")


if __name__ == "__main__":
    main()
