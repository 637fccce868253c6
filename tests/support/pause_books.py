#!/usr/bin/env python3
# tests/support/pause_books.py: what a profile recorded and left out against the books of
# tests/targets/inside/pauses.cc.
#
# usage: pause_books.py PROFILE BOOKS
import json
import re
import sys

FUNCTION = re.compile(r"::((?:take|resize)<\d+)ul>")


def main():
    profile = json.load(open(sys.argv[1], encoding="utf-8"))
    got = {}
    for point in profile["pps"]:
        found = [FUNCTION.search(profile["ftbl"][frame]) for frame in point["fs"]]
        function = next((match.group(1) + ">" for match in found if match), None)
        if function:
            numbers = [point["tb"], point["tbk"], point["eb"], point["ebk"]]
            got[function] = [a + b for a, b in zip(got.get(function, [0, 0, 0, 0]), numbers)]
    counters = profile["heapprof"]["counters"]
    left_out = counters["left_out_count"]
    got["left out<0>"] = [counters["left_out_bytes"], left_out, counters["left_out_live_bytes"],
                          left_out - counters["left_out_ended_count"]]
    want = {}
    for line in open(sys.argv[2], encoding="utf-8"):
        function, numbers = line.rstrip("\n").split("|")
        want[function] = [int(number) for number in numbers.split()]
    if got != want:
        wrong = {key: (got.get(key), want.get(key)) for key in got.keys() | want.keys()
                 if got.get(key) != want.get(key)}
        sys.exit(f"by function (profile, books): {wrong}")
    if len(want) < 13 or want["left out<0>"][1] < 100:
        sys.exit(f"too little was compared: {want}")


if __name__ == "__main__":
    main()
