#!/usr/bin/env python3
# tests/support/rank_books.py: what a merged profile has to say of its ranks, worked out from the ranks' own profiles,
# with no code of heapprof's.
# usage: rank_books.py MERGED PROFILE…      prints what differs; 1 if anything does
import json
import os
import sys


def stacks(profile, device):
    points = profile["pps"] if device is profile["heapprof"]["devices"][0] else device["pps"]
    for index, point in enumerate(points):
        yield index, tuple(profile["ftbl"][frame] for frame in point["fs"]), point


def main():
    merged = json.load(open(sys.argv[1]))
    profiles = [(os.path.basename(path), json.load(open(path))) for path in sys.argv[2:]]
    wrong = []

    def same(what, found, expected):
        if found != expected:
            wrong.append(f"{what} is {found}, not {expected}")

    inputs = merged["heapprof"]["merged"]
    same("the number of inputs", inputs[-1]["input"] + 1, len(profiles))
    by_input = {}
    for entry in inputs:
        by_input.setdefault(entry["input"], entry)
    order = [(entry.get("rank", 1 << 64), entry["is_child"], entry["host"], entry["file"])
             for entry in by_input.values()]
    same("the order of inputs", order, sorted(order))
    number_of = {(entry["file"], entry["host"]): number for number, entry in by_input.items()}
    for name, profile in profiles:
        job = profile["heapprof"]["job"]
        entry = by_input[number_of[(name, job["host"])]]
        for key, value in job.items():
            same(f"{key} of {name}", entry[key], value)

    books = {}  # device and stack: for each input its numbers
    for name, profile in profiles:
        number = number_of[(name, profile["heapprof"]["job"]["host"])]
        for device in profile["heapprof"]["devices"]:
            for _, stack, point in stacks(profile, device):
                books.setdefault((device["name"], stack), {})[number] = point
    seen = 0
    for device in merged["heapprof"]["devices"]:
        sites = device["sites"]
        column_of = {site: at for at, site in enumerate(sites["spread"])}
        for index, stack, point in stacks(merged, device):
            seen += 1
            of_inputs = books.get((device["name"], stack))
            if of_inputs is None:
                wrong.append(f"no profile has {stack[0]}")
                continue
            at = column_of[index]
            same(f"inputs of {stack[0]}", sites["inputs_count"][at], len(of_inputs))
            for name, key in (("peak", "gb"), ("leaked", "eb"), ("total", "tb")):
                values = {number: it[key] for number, it in of_inputs.items()}
                same(f"{name} of {stack[0]}", point[key], sum(values.values()))
                same(f"smallest {name} of {stack[0]}", sites[f"{name}_min_bytes"][at], min(values.values()))
                same(f"largest {name} of {stack[0]}", sites[f"{name}_max_bytes"][at], max(values.values()))
                first = min(number for number, value in values.items() if value == max(values.values()))
                same(f"whose {name} of {stack[0]} is the largest", sites[f"{name}_max_input"][at], first)
    same("the number of sites", seen, len(books))
    print("\n".join(wrong[:20]))
    sys.exit(1 if wrong else 0)


main()
