#!/usr/bin/env python3
# tests/support/scope_books.py: a profile's scopes as lines, in the form of the books of tests/targets/inside/scopes.cc.
#
# usage: scope_books.py PROFILE            prints a line for each scope, sorted
#        scope_books.py PROFILE BOOKS      compares them; all that is allocated is in scopes, or is told as outside
import json
import sys


def memory(scope, device):
    for entry in scope.get("memory", []):
        if entry["device"] == device:
            return entry
    return dict.fromkeys(
        ("allocated_bytes", "allocated_count", "freed_bytes", "freed_count", "peak_inside_bytes"), 0)


def lines_of(profile):
    scopes = profile["heapprof"].get("scopes", {}).get("scopes", [])
    paths = []
    lines = []
    for scope in scopes:
        name = (scope["category"] + ":" if scope["category"] else "") + scope["name"]
        path = (paths[scope["parent"] - 1] + " > " if scope["parent"] else "") + name
        paths.append(path)
        heap, mapped = memory(scope, "host"), memory(scope, "mapped")
        durations = scope.get("durations_count", [])
        if sum(durations[1::2]) != scope["ended_count"]:
            sys.exit(f"{path}: {scope['ended_count']} ended, {sum(durations[1::2])} have a duration")
        times = [scope[key + "_ns"] for key in ("shortest", "longest", "time")]
        if times != sorted(times) or scope["own_time_ns"] > scope["time_ns"]:
            sys.exit(f"{path}: its times are {scope}")
        lines.append("%s: %d %d %d %d | %d %d %d %d %d | %d %d %d" % (
            path, scope["begun_count"], scope["ended_count"], scope["left_open_count"], scope["items_count"],
            heap["allocated_bytes"], heap["allocated_count"], heap["freed_bytes"], heap["freed_count"],
            heap["peak_inside_bytes"], mapped["allocated_bytes"], mapped["freed_bytes"], mapped["peak_inside_bytes"]))
    if len(set(paths)) != len(paths):
        sys.exit("a path stands there twice")
    return lines


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        profile = json.load(file)
    got = lines_of(profile)
    if len(sys.argv) == 2:
        print("\n".join(sorted(got)))
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        want = file.read().splitlines()
    heads = [line.split() for line in want if line.startswith(("TOTAL ", "OUTSIDE "))]
    told = {words[0]: [int(word) for word in words[1:]] for words in heads}
    want = [line for line in want if line.split()[0] not in told]
    scopes = profile["heapprof"]["scopes"]["scopes"]
    for i, key in enumerate(("allocated_bytes", "allocated_count")):
        inside = sum(memory(scope, "host")[key] for scope in scopes)
        if inside + told["OUTSIDE"][i] != told["TOTAL"][i]:
            sys.exit(f"{key}: {inside} in scopes, {told['OUTSIDE'][i]} outside, {told['TOTAL'][i]} in all")
    got = [line for line in got if not line.startswith("all:")]
    if len(want) < 50:
        sys.exit("the books are too short to show anything")
    wrong = sorted(set(got) ^ set(want))
    for line in wrong[:20]:
        print(("in the profile: " if line in got else "in the books:   ") + line)
    if wrong:
        sys.exit(f"{len(wrong)} lines differ")


main()
