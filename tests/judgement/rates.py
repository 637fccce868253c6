# tests/judgement/rates.py: what is wrong with it, or not, stands in truth.tsv.
"""rates: a service that computes exchange curves for currencies at a given moment and answers requests with them."""
import functools
import os
import sys
import time

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))


class Market:
    """The base rates of all currencies."""

    def __init__(self, currencies):
        self.base = [1.0 + n % 97 * 0.01 for n in range(currencies)]

    def rate(self, currency, moment):
        return self.base[currency % len(self.base)] * (1.0 + (moment % 1000) * 0.0001)


class Rates:
    """The newest 900 curves are kept."""

    def __init__(self, market):
        self.market = market
        self.computed = 0
        self.find = functools.lru_cache(maxsize=900)(self.curve)

    def curve(self, currency, moment):
        self.computed += 1
        start = self.market.rate(currency, moment)
        return [start + step * 0.0001 for step in range(500)]

    def hits(self):
        return self.find.cache_info().hits


class Request:
    def __init__(self, number):
        if number % 5 == 4:
            number -= 51                                     # some clients ask again
        self.currency = number * 7919 % 300
        self.moment = number * 3 + 1700000000                # the clock of the client, in seconds
        self.step = number % 500


def answer(rates, request):
    curve = rates.find(request.currency, request.moment)
    return curve[request.step]


def serve(rates, requests):
    total = 0.0
    for number in range(requests):
        total += answer(rates, Request(number))
        if number % 10 == 0:
            time.sleep(0.006)
    return total


def main():
    rates = Rates(Market(300))
    requests = 3000 * SCALE
    total = serve(rates, requests)
    print(f"{requests} requests, {rates.computed} computed, {rates.hits()} hits, total {total:.1f}")


if __name__ == "__main__":
    main()
