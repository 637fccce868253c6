# tests/support/stays.py PROFILE.json BOOKS.json: the stays of a profile are what the program's own books say of each
# range between two of its marks (tests/targets/page/ranges.cc).
import json
import re
import sys

profile = json.load(open(sys.argv[1]))
books = json.load(open(sys.argv[2]))
extension = profile["heapprof"]
host = extension["devices"][0]
bounds = host["bounds_ns"]
marks = {mark["name"]: mark["at_ns"] for mark in extension.get("scopes", {}).get("marks", [])}


def bound_of(mark, usual):
    if mark is None:
        return usual
    near = min(range(len(bounds)), key=lambda i: abs(bounds[i] - marks[mark]))
    if abs(bounds[near] - marks[mark]) > 2:
        sys.exit(f"FAIL: no bound at mark {mark}: {marks[mark]} ns, the nearest at {bounds[near]}")
    return near


def function_of(site):
    for frame in profile["pps"][site]["fs"]:
        for name in books["functions"]:
            if re.search(rf"\b{name}\b", profile["ftbl"][frame]):
                return name
    return None


sites = host["sites"]
lists = dict(zip(sites.get("stayed", []), sites.get("stays", [])))
functions = {site: function_of(site) for site in lists}
wrong = 0
for wanted in books["ranges"]:
    begin, end = bound_of(wanted["from"], 0), bound_of(wanted["to"], len(bounds) - 1)
    got = dict.fromkeys(books["functions"], 0)
    for site, numbers in lists.items():
        if functions[site] is None:
            continue
        for i in range(0, len(numbers), 4):
            if begin <= numbers[i] < end <= numbers[i + 1]:
                got[functions[site]] += numbers[i + 2]
    if got != wanted["bytes"]:
        wrong += 1
        print(f"FAIL: from {wanted['from']} to {wanted['to']}: {got}, the books have {wanted['bytes']}")
print(f"{len(books['ranges'])} ranges, {len(bounds)} bounds, {sum(len(of) for of in lists.values()) // 4} stays, {wrong} wrong")
sys.exit(1 if wrong else 0)
