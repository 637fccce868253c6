#!/usr/bin/env python3
"""tests/support/pprof_totals.py: compares what `go tool pprof -top` says of each function with the profile's own
numbers.

usage: pprof_totals.py PROFILE.json FIELD TOP.txt EXPORT.pb.gz

FIELD is the field of DHAT's program points that holds the metric (gb, tb, eb, tbk). TOP.txt is the output of -top with
-nodefraction=0 and -unit=B. Flat is what a function allocated itself, cum what was allocated below it, once for each
stack. What EXPORT.pb.gz tells pprof to drop is cut off the stacks, as pprof does.
"""
import collections
import gzip
import json
import re
import sys

FRAME = re.compile(r"^(?:0x(?P<address>[0-9A-F]+): )?(?P<name>.*?)(?: \((?:in (?P<module>.*)|.*:\d+)\))?$")


def label(text):
    match = FRAME.match(text)
    if match["name"] != "???":
        return match["name"]
    return f"0x{match['address']} ({match['module'].rsplit('/', 1)[-1]})"


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def drop_frames(path):
    """The expression of a file in pprof's format: its field 7 is a number of one of the texts, field 6."""
    with gzip.open(path) as file:
        data = file.read()
    at, strings, dropped = 0, [], 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            if tag >> 3 == 6:
                strings.append(data[at:at + value].decode())
            at += value
        elif tag >> 3 == 7:
            dropped = value
    return re.compile(strings[dropped]) if strings[dropped] else None


def cut(names, dropped):
    """The stack, innermost first, without what pprof prunes: from the outermost dropped frame inwards, but for those
    outside of the first that is not dropped."""
    def matches(name):
        compared = re.sub(r"(?s)^((?:\(anonymous namespace\)|operator\(\)|[^(])*).*", r"\1", name)
        return dropped is not None and dropped.fullmatch(compared)
    has_other = False
    for i in range(len(names) - 1, -1, -1):
        if not matches(names[i]):
            has_other = True
        elif has_other:
            return names[i + 1:]
    return names


def expected(path, field, dropped):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    labels = [label(text) for text in profile["ftbl"]]
    flat, cum = collections.Counter(), collections.Counter()
    for point in profile["pps"]:
        names = cut([labels[index] for index in point["fs"]], dropped)
        flat[names[0]] += point[field]
        for name in set(names):
            cum[name] += point[field]
    return flat, cum


def shown(path):
    flat, cum = collections.Counter(), collections.Counter()
    with open(path, encoding="utf-8") as file:
        lines = iter(file.read().splitlines())
    for line in lines:
        if line.split() == ["flat", "flat%", "sum%", "cum", "cum%"]:
            break
    for line in lines:
        numbers = line.split(None, 5)
        name = re.sub(r" \((partial-)?inline\)$", "", numbers[5])
        flat[name] += int(numbers[0].rstrip("B"))
        cum[name] += int(numbers[3].rstrip("B"))
    return flat, cum


def main():
    profile, field, top, export = sys.argv[1:]
    wrong = 0
    want, got = expected(profile, field, drop_frames(export)), shown(top)
    for kind, of_profile, of_pprof in (("flat", want[0], got[0]), ("cum", want[1], got[1])):
        for name in sorted(set(of_profile) | set(of_pprof)):
            if of_profile[name] != of_pprof[name]:
                print(f"{field} {kind} of {name}: {of_profile[name]} in the profile, {of_pprof[name]} in pprof")
                wrong += 1
    print(f"{len(want[1])} functions, {sum(want[0].values())} in all, {wrong} wrong")
    sys.exit(0 if wrong == 0 and want[1] else 1)


main()
