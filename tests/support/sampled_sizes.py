"""Compares estimates of sampled profiles with the books of tests/targets/sampling/sampled_sizes.

usage: sampled_sizes.py INTERVAL RUN…    reads sampledRUN.json and booksRUN.txt

For each size: that the mean of the estimates' deviations, in units of their true standard deviation, is that of an
unbiased estimate, that they scatter as much as they should, and that the stated error at 95 % holds the truth.
"""
import json
import math
import re
import sys


def frame_text(profile, point):
    return [profile["ftbl"][i] for i in point["fs"]]


def estimates(profile):
    """Bytes and blocks, total and live at the end, by size."""
    by_size = {}
    for point in profile["pps"]:
        size = next((int(found.group(1)) for text in frame_text(profile, point)
                     if (found := re.search(r"(?:take_size|resize_to)<(\d+)", text))), None)
        if size is None:
            continue
        of = by_size.setdefault(size, [0, 0, 0, 0])
        for i, key in enumerate(("tb", "tbk", "eb", "ebk")):
            of[i] += point[key]
        if point["tb"] != point["tbk"] * size:
            sys.exit(f"{point['tbk']} blocks of {size} bytes are {point['tb']} bytes")
    return by_size


def deviation(size, blocks, interval):
    chosen = -math.expm1(-size / interval)
    weight = 1 / chosen
    part = weight - math.floor(weight)
    return size * math.sqrt(blocks * (weight - 1 + chosen * part * (1 - part)))


def stated_error(size, blocks, interval):
    return 1.959964 * math.sqrt(min(blocks * size * interval, 1.083 * blocks * interval**2))


def main():
    interval = int(sys.argv[1])
    scores = {}  # by size and what: deviations in units of the true standard deviation
    held = {}
    for run in sys.argv[2:]:
        with open(f"sampled{run}.json", encoding="utf-8") as file:
            profile = json.load(file)
        if profile["heapprof"]["sampling"]["interval_bytes"] != interval:
            sys.exit("another interval")
        by_size = estimates(profile)
        with open(f"books{run}.txt", encoding="utf-8") as file:
            rows = [tuple(map(int, line.split())) for line in file]
        for size, blocks, live in rows:
            got = by_size.get(size, [0, 0, 0, 0])
            for what, truth, bytes_ in (("total", blocks, got[0]), ("live", live, got[2])):
                off = bytes_ - truth * size
                scores.setdefault((size, what), []).append(off / max(deviation(size, truth, interval), 1))
                held.setdefault(what, []).append(abs(off) <= stated_error(size, truth, interval))
    failed = False
    for (size, what), offs in sorted(scores.items()):
        mean = sum(offs) / len(offs)
        scatter = sum(x * x for x in offs) / len(offs)
        limit = 5 / math.sqrt(len(offs))
        print(f"{size:8} {what:5}: mean deviation {mean:+.2f} of at most {limit:.2f}, scatter {scatter:.2f}")
        # Of a block that is as good as always chosen nothing scatters.
        least = 0.15 if size < interval else 0
        failed = failed or abs(mean) > limit or not least <= scatter <= 1 + 7 * math.sqrt(2 / len(offs))
    for what, all_ in held.items():
        share = sum(all_) / len(all_)
        print(f"{what}: the stated error held the truth in {share:.1%} of {len(all_)}")
        failed = failed or share < 0.85
    sys.exit(1 if failed else 0)


main()
