#!/usr/bin/env python3
# tests/support/instance_books.py: a profile's single runs through scopes against the books of
# tests/targets/inside/instances.cc.
#
# usage: instance_books.py PROFILE BOOKS all|thinned
#
# The books have two clock readings around each begin and each end: the run's own times lie between them. As the
# profile's times count from its start, one offset, which the readings bound, has to fit all of them.
import json
import sys

FLAGS = {1: "left_open", 2: "open", 4: "left", 8: "apart"}
SLACK = 0.0005  # of a difference: two clocks, of which one was measured by the other


def runs_of(profile):
    runs = {}
    paths = []
    duration = profile["heapprof"]["run"]["duration_ns"]
    for scope in profile["heapprof"]["scopes"]["scopes"]:
        path = (paths[scope["parent"] - 1] + " > " if scope["parent"] else "") + scope["name"]
        paths.append(path)
        columns = scope.get("instances", {"begin_ns": [], "end_ns": [], "thread": [], "growth_bytes": [], "memory": []})
        count = len(columns["begin_ns"])
        if count + scope.get("unkept_instances_count", 0) != scope["begun_count"]:
            sys.exit(f"{path}: {count} kept, {scope.get('unkept_instances_count', 0)} not, {scope['begun_count']} begun")
        if count and columns["memory"][0]["device"] != "host":
            sys.exit(f"{path}: the heap is not the first device")
        host = columns["memory"][0] if count else {}
        actives = columns.get("active_ns", [e - b for b, e in zip(columns["begin_ns"], columns["end_ns"])])
        for i in range(count):
            begin, end = columns["begin_ns"][i], columns["end_ns"][i]
            flags = columns.get("flags", [0] * count)[i]
            if not begin <= end <= duration or actives[i] > end - begin:
                sys.exit(f"{path}: {begin} to {end} of {duration}, active {actives[i]}")
            runs.setdefault(path, []).append({
                "begin": begin, "end": end, "thread": columns["thread"][i], "growth": columns["growth_bytes"][i],
                "flags": ",".join(name for bit, name in FLAGS.items() if flags & bit),
                "before": host["live_before_bytes"][i], "after": host["live_after_bytes"][i]})
        ended = [actives[i] for i in range(count) if not columns.get("flags", [0] * count)[i] & 3]
        if scope["ended_count"]:
            if [min(ended), max(ended)] != [scope["shortest_ns"], scope["longest_ns"]]:
                near = max(abs(min(ended) - scope["shortest_ns"]), abs(max(ended) - scope["longest_ns"]))
                if near > 1:  # a difference of two rounded times
                    sys.exit(f"{path}: the extremes {scope['shortest_ns']}, {scope['longest_ns']} are not kept")
    return runs


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        profile = json.load(file)
    told = {}
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            words = line.rstrip("\n").split(" ", 7 - 1)
            flags, path = words[6].split("] ", 1)
            told.setdefault(path, []).append({
                "thread": int(words[0]), "begin": (int(words[1]), int(words[2])), "end": (int(words[3]), int(words[4])),
                "growth": int(words[5]), "flags": flags[1:]})
    runs = runs_of(profile)
    if runs.keys() != told.keys():
        sys.exit(f"{sorted(runs)} in the profile, {sorted(told)} in the books")
    pairs = []
    for path, kept in runs.items():
        # Of one thread's runs of one path the begins are in one order.
        for thread in {run["thread"] for run in kept} | {run["thread"] for run in told[path]}:
            mine = [run for run in kept if run["thread"] == thread]
            books = sorted((run for run in told[path] if run["thread"] == thread), key=lambda run: run["begin"])
            if sys.argv[3] == "all":
                if len(mine) != len(books):
                    sys.exit(f"{path}: thread {thread} has {len(mine)} runs, {len(books)} in the books")
                pairs += zip([path] * len(mine), mine, books)
    if sys.argv[3] == "all":
        lows, highs = [], []
        for path, run, book in pairs:
            # Whether anybody has noticed by the end that a thread has ended is open.
            is_open = book["flags"] == "left_open" and run["flags"] == "open"
            if run["growth"] != book["growth"] or (run["flags"] != book["flags"] and not is_open):
                sys.exit(f"{path}: {run} in the profile, {book} in the books")
            moments = [(run["begin"], book["begin"])]
            if "open" not in run["flags"]:
                moments.append((run["end"], book["end"]))
            for at, (low, high) in moments:
                slack = SLACK * at + 1000
                lows.append(low - at - slack)
                highs.append(high - at + slack)
        if max(lows) > min(highs):
            sys.exit(f"no start fits all runs: it is {max(lows)} or later, and {min(highs)} or earlier")
        if len({run["thread"] for _, run, _ in pairs}) == 2:  # one worker: what is live is its and its scope's alone
            for path, run, book in pairs:
                if run["after"] - run["before"] != book["growth"] and path not in ("task", "left open"):
                    sys.exit(f"{path}: {run['before']} before, {run['after']} after, grew by {book['growth']}")
        print(f"{len(pairs)} runs")
        return
    for path, kept in runs.items():
        growths = [run["growth"] for run in told[path]]
        if max(run["growth"] for run in kept) != max(growths):
            sys.exit(f"{path}: the run that grew most is not kept")
        known = {(run["thread"], run["growth"], run["flags"]) for run in told[path]}
        known |= {(thread, growth, "open") for thread, growth, flags in known if flags == "left_open"}
        for run in kept:
            if (run["thread"], run["growth"], run["flags"]) not in known:
                sys.exit(f"{path}: {run} is not in the books")
    print(f"{sum(map(len, runs.values()))} runs of {sum(map(len, told.values()))}")


main()
