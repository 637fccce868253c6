# tests/judgement/quotes.py: what is wrong with it, or not, stands in truth.tsv.
"""quotes: a service that computes price curves for articles at a given moment and answers requests with them."""
import os
import sys
import time

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))


class Market:
    """The base prices of all articles."""

    def __init__(self, articles):
        self.base = [10.0 + n % 97 for n in range(articles)]

    def price(self, article, moment):
        return self.base[article % len(self.base)] * (1.0 + (moment % 1000) * 0.0001)


class Quotes:
    """Answers from memory what was computed before."""

    def __init__(self, market):
        self.market = market
        self.answers = {}
        self.computed = 0

    def quote(self, article, moment):
        key = (article, moment)
        if key not in self.answers:
            self.answers[key] = self.curve(article, moment)
        return self.answers[key]

    def curve(self, article, moment):
        self.computed += 1
        start = self.market.price(article, moment)
        return [start + step * 0.01 for step in range(500)]


class Request:
    def __init__(self, number):
        self.article = number * 7919 % 300
        self.moment = number * 3 + 1700000000                # the clock of the client, in seconds
        self.step = number % 500


def answer(quotes, request):
    curve = quotes.quote(request.article, request.moment)
    return curve[request.step]


def serve(quotes, requests):
    total = 0.0
    for number in range(requests):
        total += answer(quotes, Request(number))
        if number % 10 == 0:
            time.sleep(0.006)
    return total


def main():
    quotes = Quotes(Market(300))
    requests = 3000 * SCALE
    total = serve(quotes, requests)
    print(f"{requests} requests, {quotes.computed} computed, total {total:.1f}")


if __name__ == "__main__":
    main()
