#!/usr/bin/env python3
# tests/support/name_books.py: what a profile says of named memory against the books of tests/targets/inside/names.cc.
#
# usage: name_books.py PROFILE BOOKS [LEAST]    LEAST: how many amounts have to be compared at least
import json
import re
import sys

FUNCTION = re.compile(r"::((?:take|resize)<\d+)ul>|::(operate_on_pages)")
NUMBERS = ("total_bytes", "total_count", "leaked_bytes", "leaked_count")


def function_of(stack, frames):
    for frame in stack:
        found = FUNCTION.search(frames[frame])
        if found:
            return found.group(1) + ">" if found.group(1) else found.group(2) + "<0>"
    return None


def read_profile(profile):
    """By device, name and function: the numbers; each name's own have to be the sums of its sites'."""
    amounts = {}
    for device in profile["heapprof"]["devices"]:
        for named in device.get("names", []):
            sums = [0, 0, 0, 0]
            for site in named["sites"]:
                numbers = [site[number] for number in NUMBERS]
                sums = [a + b for a, b in zip(sums, numbers)]
                key = (device["name"], named["category"] + ":" + named["name"],
                       function_of(site["fs"], profile["ftbl"]))
                amounts[key] = [a + b for a, b in zip(amounts.get(key, [0, 0, 0, 0]), numbers)]
            own = [named[number] for number in NUMBERS]
            if sums != own:
                sys.exit(f"the sites of {named['name']} sum to {sums}, and it says {own}")
            if not named["leaked_bytes"] <= named["max_bytes"] <= named["total_bytes"]:
                sys.exit(f"{named['name']}: {named['max_bytes']} bytes at most")
    return amounts


def main():
    profile = json.load(open(sys.argv[1], encoding="utf-8"))
    want = {}
    unmatched = None
    for line in open(sys.argv[2], encoding="utf-8"):
        words = line.rstrip("\n").split("|")
        if words[0] == "unmatched":
            unmatched = int(words[1])
        else:
            want[tuple(words[:3])] = [int(number) for number in words[3].split()]
    got = read_profile(profile)
    if got != want:
        wrong = {key: (got.get(key), want.get(key)) for key in got.keys() | want.keys()
                 if got.get(key) != want.get(key)}
        sys.exit(f"by device, name and function (profile, books): {wrong}")
    if profile["heapprof"]["counters"]["unmatched_names_count"] != unmatched:
        sys.exit(f"{profile['heapprof']['counters']['unmatched_names_count']} names of nothing, by the books {unmatched}")
    if len(want) < (int(sys.argv[3]) if len(sys.argv) > 3 else 30):
        sys.exit(f"only {len(want)} amounts were compared")


if __name__ == "__main__":
    main()
