# tests/judgement/loader.py: what is wrong with it, or not, stands in truth.tsv.
"""loader: reads deliveries of article lists, checks each and reports the bad ones at the end."""
import os
import sys
import time
import traceback

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))


class BadRow(Exception):
    def __init__(self, delivery, row):
        super().__init__(f"delivery {delivery}: row {row} has no price")
        self.delivery = delivery
        self.row = row


def read_delivery(number):
    """Stands for a file that was sent by a partner."""
    rows = []
    for row in range(6000):
        price = "" if number % 2 and row == 5990 else f"{row % 311}.99"
        rows.append(f"{number};{row};Article of the number {row * 7 % 1009};{price}")
    return rows


def check_row(delivery, row, fields):
    if not fields[3]:
        raise BadRow(delivery, row)
    return len(fields[2])


def load_delivery(number):
    rows = read_delivery(number)
    letters = 0
    for row, text in enumerate(rows):
        letters += check_row(number, row, text.split(";"))
    return letters


class Loader:
    def __init__(self, stock):
        self.stock = [float(n) for n in range(stock)]
        self.letters = 0
        self.loaded = 0
        self.problems = []

    def take(self, number):
        try:
            self.letters += load_delivery(number)
            self.loaded += 1
        except BadRow as problem:
            text = traceback.format_exc()
            self.problems.append((problem.row, text))

    def summary(self):
        rows = sorted({row for row, _ in self.problems})
        lines = sum(text.count("\n") for _, text in self.problems)
        return f"{self.loaded} loaded, {len(self.problems)} refused, rows {rows}, {lines} lines, {self.letters} letters"


def main():
    loader = Loader(300000)
    for number in range(140 * SCALE):
        loader.take(number)
        time.sleep(0.004)
    print(loader.summary())


if __name__ == "__main__":
    main()
