# tests/judgement/importer.py: what is wrong with it, or not, stands in truth.tsv.
"""importer: reads deliveries of addresses, checks each and reports the bad ones at the end."""
import os
import sys
import time

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))


class BadRow(Exception):
    def __init__(self, delivery, row):
        super().__init__(f"delivery {delivery}: row {row} has no town")
        self.delivery = delivery
        self.row = row


def read_delivery(number):
    """Stands for a file that was sent by a partner."""
    rows = []
    for row in range(6000):
        town = "" if number % 2 and row == 5990 else f"Town {row % 311}"
        rows.append(f"{number};{row};Street of the number {row * 7 % 1009};{town}")
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


class Importer:
    def __init__(self):
        self.letters = 0
        self.loaded = 0
        self.problems = []

    def take(self, number):
        try:
            self.letters += load_delivery(number)
            self.loaded += 1
        except BadRow as problem:
            self.problems.append(problem)

    def summary(self):
        rows = sorted({problem.row for problem in self.problems})
        return f"{self.loaded} loaded, {len(self.problems)} refused, rows {rows}, {self.letters} letters"


def main():
    importer = Importer()
    for number in range(140 * SCALE):
        importer.take(number)
        time.sleep(0.004)
    print(importer.summary())


if __name__ == "__main__":
    main()
