# tests/judgement/dashboards.py: what is wrong with it, or not, stands in truth.tsv.
"""dashboards: opens many dashboards; each reads its table once and shows a sum, which is refreshed from time to time."""
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
        "amount": random.random(rows),
        "price": random.random(rows) * 100,
    })


class Board:
    def __init__(self):
        self.panels = {}

    def add(self, title, show):
        self.panels[title] = show

    def refresh(self):
        return sum(len(show()) for show in self.panels.values())


def make_panel(title, table):
    value = float((table["amount"] * table["price"]).sum())

    def show():
        return f"{title}: {value:.2f} EUR in {len(table)} sales"

    return show


def open_dashboard(board, number):
    table = read_table(number)
    title = f"dashboard number {number}"
    board.add(title, make_panel(title, table))


def main():
    board = Board()
    letters = 0
    for number in range(40 * SCALE):
        open_dashboard(board, number)
        letters += board.refresh()
        time.sleep(0.03)
    print(f"{len(board.panels)} panels, {letters} letters")


if __name__ == "__main__":
    main()
