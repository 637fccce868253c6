#!/usr/bin/env python3
# tests/support/snapshot_books.py: a profile's snapshots at marks against the books of
# tests/targets/inside/snapshots.cc.
#
# usage: snapshot_books.py PROFILE BOOKS MARKS    MARKS: how many marks there have to be
import json
import re
import sys

FUNCTION = re.compile(r"::((?:take|resize)<\d+)ul>")


def function_of(stack, frames):
    for frame in stack:
        found = FUNCTION.search(frames[frame])
        if found:
            return found.group(1) + ">"
    return None


def amounts_at(profile, snapshot):
    """By function: bytes and blocks that its sites had at the snapshot."""
    sites = profile["heapprof"]["devices"][0]["sites"]
    amounts = {}
    for index, steps in zip(sites["stepped"], sites["steps"]):
        function = function_of(profile["pps"][index]["fs"], profile["ftbl"])
        now = [0, 0]
        for at in range(0, len(steps), 3):
            if steps[at] <= snapshot:
                now = steps[at + 1:at + 3]
        if function is None or now == [0, 0]:
            continue
        of_function = amounts.setdefault(function, [0, 0])
        of_function[0] += now[0]
        of_function[1] += now[1]
    return amounts


def read_books(path):
    """Of each mark, in order: its name, what each function had, and the sizes of the largest blocks."""
    marks = []
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words[0] == "MARK":
            marks.append([line[5:].strip(), {}, []])
        elif words[0] == "LARGEST":
            marks[-1][2] = [int(word) for word in words[1:]]
        else:
            marks[-1][1][words[0]] = [int(words[1]), int(words[2])]
    return marks


def main():
    profile = json.load(open(sys.argv[1], encoding="utf-8"))
    books = read_books(sys.argv[2])
    snapshots = profile["heapprof"]["snapshots"]["snapshots"]
    marks = [index for index, snapshot in enumerate(snapshots) if snapshot["is_mark"]]
    if not len(marks) == len(books) == int(sys.argv[3]):
        sys.exit(f"{len(marks)} snapshots of marks, {len(books)} marks in the books, {sys.argv[3]} wanted")
    compared = 0
    for index, (name, want, largest) in zip(marks, books):
        snapshot = snapshots[index]
        if (snapshot["category"], snapshot["name"]) != ("test", name):
            sys.exit(f"snapshot {index + 1} is of the mark {snapshot['name']}, not {name}")
        got = amounts_at(profile, index)
        if got != want:
            wrong = {key: (got.get(key), want.get(key)) for key in got.keys() | want.keys()
                     if got.get(key) != want.get(key)}
            sys.exit(f"{name}: by function (profile, books): {wrong}")
        compared += len(want)
        # Blocks of the C library may be among them: those of the program are, in their order.
        ours = [block["size_bytes"] for block in snapshot["devices"][0]["largest"]
                if function_of(block["fs"], profile["ftbl"])]
        if ours != largest[:len(ours)] or len(ours) < min(len(largest), 8):
            sys.exit(f"{name}: the largest are {ours}, by the books {largest}")
    if compared < 20 * len(marks):
        sys.exit(f"only {compared} amounts were compared")


if __name__ == "__main__":
    main()
