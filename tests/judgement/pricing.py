# tests/judgement/pricing.py: what is wrong with it, or not, stands in truth.tsv.
"""pricing: values option contracts; volatility surfaces are expensive, so they are cached."""
import random
from functools import lru_cache

import numpy as np

STRIKES = 96
TENORS = 40
SURFACE_CACHE = 1200


@lru_cache(maxsize=SURFACE_CACHE)
def surface(underlying, day):
    """Volatility by tenor and strike for one underlying at the end of one day."""
    rng = np.random.default_rng(underlying * 1000 + day)
    tenor = np.linspace(0.05, 3.0, TENORS)[:, None]
    moneyness = np.linspace(0.5, 1.5, STRIKES)[None, :]
    level = 0.15 + 0.1 * rng.random()
    smile = level + 0.3 * (moneyness - 1.0) ** 2 / np.sqrt(tenor)
    smile += 0.002 * rng.standard_normal((TENORS, STRIKES))
    for _ in range(6):
        smile[:, 1:-1] = 0.25 * smile[:, :-2] + 0.5 * smile[:, 1:-1] + 0.25 * smile[:, 2:]
    return smile


def volatility(underlying, day, tenor, moneyness):
    grid = surface(underlying, day)
    row = min(TENORS - 1, int((tenor - 0.05) / 2.95 * (TENORS - 1)))
    col = min(STRIKES - 1, int((moneyness - 0.5) * (STRIKES - 1)))
    return float(grid[row, col])


def normal_cdf(x):
    return 0.5 * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


def option_value(spot, strike, tenor, vol, rate=0.02):
    d1 = (np.log(spot / strike) + (rate + vol * vol / 2) * tenor) / (vol * np.sqrt(tenor))
    d2 = d1 - vol * np.sqrt(tenor)
    return spot * normal_cdf(d1) - strike * np.exp(-rate * tenor) * normal_cdf(d2)


class Portfolio:
    def __init__(self, size, rng):
        self.positions = [
            (rng.randrange(250), 0.1 + 2.5 * rng.random(), 0.6 + 0.8 * rng.random(), rng.randrange(-50, 51))
            for _ in range(size)
        ]

    def value(self, day, rng, sample):
        total = 0.0
        for underlying, tenor, moneyness, quantity in rng.sample(self.positions, sample):
            vol = volatility(underlying, day - rng.randrange(3), tenor, moneyness)
            total += quantity * option_value(100.0, 100.0 * moneyness, tenor, vol)
        return total


def main():
    rng = random.Random(3)
    portfolio = Portfolio(6000, rng)
    values = [portfolio.value(10 + day, rng, 2500) for day in range(14)]
    print("last value %.2f, largest move %.2f" % (
        values[-1], max(abs(b - a) for a, b in zip(values, values[1:]))))
    info = surface.cache_info()
    print("surfaces: %d hits, %d misses, %d kept" % (info.hits, info.misses, info.currsize))


if __name__ == "__main__":
    main()
