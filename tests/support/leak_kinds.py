#!/usr/bin/env python3
"""tests/support/leak_kinds.py: are blocks judged as the program's books have it, to the byte?

usage: leak_kinds.py BOOKS PROFILE [--none] [--inherits]
BOOKS has lines "FUNCTION KIND BLOCKS BYTES" (tests/targets/end/leak_kinds.cc); of a function with the kind "any"
nothing is expected. --none: nothing may be judged. --inherits: a forked
child, where freed blocks may hold others: what is lost may count as better, and nothing as worse.
Prints each function that differs; exit status 1 if any does.
"""
import collections
import json
import re
import sys

KINDS = ("lost", "indirectly_lost", "possibly_lost", "reachable")


def judged(profile):
    """Function of the book → kind → [blocks, bytes]: of the stack's innermost frame that is a plant's."""
    sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    sites = profile["heapprof"]["devices"][0]["sites"]
    for at, site in enumerate(sites.get("judged", [])):
        names = [re.sub(r"^0x[0-9A-Fa-f]+: ([^ (]*).*", r"\1", profile["ftbl"][f]) for f in profile["pps"][site]["fs"]]
        plant = next((n for n in names if re.match(r"plant_|chain_rest|inner_of_lost|behind_", n)), None)
        for kind in KINDS:
            sums[plant][kind][0] += sites[kind + "_count"][at]
            sums[plant][kind][1] += sites[kind + "_bytes"][at]
    return sums


def main():
    books, path = sys.argv[1:3]
    profile = json.load(open(path))
    check = profile["heapprof"]["leak_check"]
    found = judged(profile)
    if "--none" in sys.argv:
        if check["made"] or not check["reason"] or found:
            print(f"something was judged: {check} {dict(found)}")
            return 1
        return 0
    if not check["made"]:
        print(f"nothing was judged: {check['reason']}")
        return 1
    wanted = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    unknown = set()
    for line in open(books):
        words = line.split()
        if words[1] == "any":
            unknown.add(words[0])
        elif words[1] != "freed":
            wanted[words[0]][words[1]][0] += int(words[2])
            wanted[words[0]][words[1]][1] += int(words[3])
        else:
            wanted[words[0]]
    wrong = 0
    for plant in sorted(wanted):
        if "--inherits" in sys.argv:
            for depth in range(1, len(KINDS) + 1):  # at most so much is so bad or worse
                kinds = KINDS[:depth]
                got, most = ([sum(of[plant][k][at] for k in kinds) for at in (0, 1)] for of in (found, wanted))
                if got[0] > most[0] or got[1] > most[1] or (depth == len(KINDS) and got != most):
                    wrong += 1
                    print(f"{plant}: {' + '.join(kinds)} is {got}, should be {most} at most")
            continue
        for kind in KINDS:
            if plant not in unknown and found[plant][kind] != wanted[plant][kind]:
                wrong += 1
                print(f"{plant}: {kind} is {found[plant][kind]}, should be {wanted[plant][kind]}")
    print(f"{len(wanted)} ways, {wrong} numbers differ")
    return 1 if wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
