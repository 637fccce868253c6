# tests/judgement/reports.py: what is wrong with it, or not, stands in truth.tsv.
"""reports: renders one report for each branch office and mails the notices at the end of the run."""
import hashlib
import random

OFFICES = 260
ROWS = 1500


class Mailer:
    """Collects notices, and delivers them once the mail window opens."""

    def __init__(self):
        self._callbacks = []
        self.delivered = 0

    def when_window_opens(self, callback):
        self._callbacks.append(callback)

    def open_window(self):
        for callback in self._callbacks:
            subject, size = callback()
            if subject and size:
                self.delivered += 1
        self._callbacks.clear()


class Ledger:
    def __init__(self, seed):
        self._random = random.Random(seed)
        self.accounts = ["%04d-%06d" % (i % 97, i * 7919 % 1000000) for i in range(20000)]

    def fetch(self, office):
        r = self._random
        rows = []
        for i in range(ROWS):
            account = self.accounts[(office * 61 + i * 13) % len(self.accounts)]
            rows.append((account, r.randrange(1, 366), r.random() * 1000.0, "booking %d/%d" % (office, i)))
        return rows


def totals_by_quarter(rows):
    totals = [0.0] * 4
    for _, day, amount, _ in rows:
        totals[min(3, day // 92)] += amount
    return totals


def render(office, rows, totals):
    lines = ["Office %d" % office]
    for account, day, amount, text in rows:
        lines.append("%-14s %3d %10.2f %s" % (account, day, amount, text))
    lines.extend("Q%d %12.2f" % (q + 1, t) for q, t in enumerate(totals))
    return "\n".join(lines)


def store(text, archive):
    data, digest = text.encode(), hashlib.sha256()
    for _ in range(120):
        digest.update(data)
    archive.append(digest.hexdigest())


def produce_report(office, ledger, mailer, archive):
    rows = ledger.fetch(office)
    totals = totals_by_quarter(rows)
    text = render(office, rows, totals)
    store(text, archive)

    def notice():
        return "Report for office %d, %d rows, Q4 %.2f" % (office, len(rows), totals[3]), len(text)

    mailer.when_window_opens(notice)


def main():
    ledger = Ledger(5)
    mailer = Mailer()
    archive = []
    for office in range(OFFICES):
        produce_report(office, ledger, mailer, archive)
    mailer.open_window()
    print(len(archive), "reports,", mailer.delivered, "notices,", archive[-1][:12])


if __name__ == "__main__":
    main()
