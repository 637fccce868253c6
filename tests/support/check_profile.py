#!/usr/bin/env python3
"""tests/support/check_profile.py: does a profile keep every rule that needs no knowledge of the program?

usage: check_profile.py PROFILE…
The rules are those of man/heapprof-format.5, written down again here so that the writer is not its own judge: what
Valgrind's viewer enforces, the inequalities between the numbers, and sums that must agree. Prints each broken rule;
exit status 1 if any.
"""
import json
import re
import sys

REQUIRED = ["dhatFileVersion", "mode", "verb", "bklt", "bkacc", "tu", "Mtu", "tuth", "cmd", "pid", "te", "tg", "pps",
            "ftbl", "heapprof"]
NUMBERS = ["tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk"]
FRAME = re.compile(r"^0x[0-9A-Fa-f]+: \S.* \((.+:\d+|in .+)\)$|^0x[0-9A-Fa-f]+: \?\?\?$")
PYTHON = re.compile(r"^\S.* \((.*:\d+|in \[Python\])\)$")  # a line of Python has no address
RECURSION = re.compile(r"^\[recursion from \S.*, up to [1-9]\d* frames\]( \(in .+\))?$")
PSEUDO = re.compile(r"^\[[^\]]+\]$")


def check(profile):
    broken = []

    def rule(holds, text):
        if not holds:
            broken.append(text)

    for key in REQUIRED:
        rule(key in profile, f"'{key}' is missing")
    if broken:
        return broken
    rule(profile["dhatFileVersion"] == 2, "dhatFileVersion is not 2")
    rule(profile["verb"] == "Allocated", "verb is not Allocated")
    rule(profile["bklt"] is True and profile["bkacc"] is False, "bklt, bkacc are not true, false")
    rule(profile["heapprof"].get("version") == 1, "the extension's version is not 1")
    rule(profile["tg"] <= profile["te"], f"tg {profile['tg']} > te {profile['te']}")
    has_python = any(m.get("path") == "[Python]" for m in profile["heapprof"].get("modules", []))
    check_frames(profile["ftbl"], has_python, rule)
    check_points(profile, rule)
    check_extension(profile, rule)
    check_numbers(profile, rule, "")
    return broken


def check_frames(frames, has_python, rule):
    rule(frames and frames[0] == "[root]", "ftbl[0] is not [root]")
    rule(len(set(frames)) == len(frames), "ftbl has duplicates")
    for frame in frames[1:]:
        forms = [FRAME, PSEUDO, RECURSION] + [PYTHON] * has_python
        rule(any(form.match(frame) for form in forms), f"frame text: {frame!r}")
        rule(not any(ord(c) < 32 for c in frame), f"control character in {frame!r}")


def check_points(profile, rule):
    seen = set()
    for index, pp in enumerate(profile["pps"]):
        where = f"pps[{index}]"
        missing = [n for n in NUMBERS + ["fs"] if n not in pp]
        if missing:
            rule(False, f"{where}: {missing} are missing")
            continue
        stack = tuple(pp["fs"])
        rule(stack not in seen, f"{where}: repeated location")
        rule(len(stack) > 0, f"{where}: no frame")
        rule(all(0 < f < len(profile["ftbl"]) for f in stack), f"{where}: frame index out of range")
        seen.add(stack)
        for greater, smaller in (("tb", "mb"), ("mb", "gb"), ("mb", "eb"), ("tbk", "mbk"), ("tbk", "gbk"),
                                 ("tbk", "ebk")):
            rule(pp[greater] >= pp[smaller], f"{where}: {greater} {pp[greater]} < {smaller} {pp[smaller]}")
        for bytes_, blocks in (("tb", "tbk"), ("gb", "gbk"), ("eb", "ebk")):
            rule(pp[blocks] > 0 or pp[bytes_] == 0, f"{where}: {bytes_} without {blocks}")
        rule(pp["tbk"] > 0, f"{where}: no block")
        # tl is rounded per point, by less than one unit
        rule(pp["tl"] <= pp["tbk"] * (profile["te"] + 1), f"{where}: lifetimes are longer than the run")


def check_extension(profile, rule):
    sums = {n: sum(pp.get(n, 0) for pp in profile["pps"]) for n in NUMBERS}
    host = next((d for d in profile["heapprof"].get("devices", []) if d.get("name") == "host"), None)
    rule(host is not None, "the extension has no device 'host'")
    if host is None:
        return
    totals, sites = host["totals"], host["sites"]
    for name, total in (("total_bytes", "tb"), ("total_count", "tbk"), ("peak_bytes", "gb"), ("peak_count", "gbk"),
                        ("leaked_bytes", "eb"), ("leaked_count", "ebk")):
        rule(totals[name] == sums[total], f"host {name} is {totals[name]}, the sum of {total} {sums[total]}")
    rule(totals["temporary_count"] == sum(sites["temporary_count"]), "host temporary_count is not the sites' sum")
    rule(totals["max_count"] >= totals["peak_count"], "max_count is below peak_count")
    highest = max(host["timeline"]["max_bytes"], default=0)
    rule(highest == totals["peak_bytes"], f"the timeline's maximum is {highest}, the peak {totals['peak_bytes']}")
    for low, high in zip(host["timeline"]["min_bytes"], host["timeline"]["max_bytes"]):
        rule(low <= high, "a bucket of the timeline has its minimum above its maximum")
    for index, pp in enumerate(profile["pps"]):
        rule(sites["temporary_count"][index] <= pp["tbk"] - pp["ebk"],
             f"pps[{index}]: more temporary blocks than were freed")
        sizes = sites["block_sizes_count"][index]
        rule(isinstance(sizes, int) or sum(sizes[1::2]) == pp["tbk"],
             f"pps[{index}]: the sizes do not add up to the blocks")
    check_owners(host, rule)
    check_holders(host, rule)
    check_fragmentation(host, rule)
    check_untouched(host, rule)
    check_moments(profile, host, rule)
    check_scopes(profile["heapprof"], rule)
    check_snapshots(profile, rule)
    run = profile["heapprof"]["run"]
    rule(run["complete"] == (run["incomplete_reason"] == ""), "complete and incomplete_reason disagree")
    if profile["heapprof"]["counters"]["lost_count"] > 0:
        rule(not run["complete"], "events were lost, and the profile says that it is complete")


def check_owners(host, rule):
    entries = host.get("lost_owners", [])
    rule("lost_owners" not in host or entries, "lost_owners is there, and empty")
    for what in ("bytes", "count"):
        lost = sum(sum(host["sites"].get(kind + what, [])) for kind in ("lost_", "indirectly_lost_"))
        owned = sum(entry["lost_" + what] for entry in entries)
        rule(owned <= lost, f"owners have {owned} {what} of what is lost, which is {lost}")
    for entry in entries:
        rule(entry["owners_count"] <= entry["lost_count"], "there are more owners than blocks")
        rule(sum(part["owner_bytes"] for part in entry["blocks_of"]) <= entry["lost_bytes"], "owners have less than themselves")
        stacks = [tuple(part["fs"]) for part in entry["blocks_of"]]
        rule(len(set(stacks)) == len(stacks), "a stack is twice in one entry of lost_owners")
    sizes = [entry["lost_bytes"] for entry in entries]
    rule(sizes == sorted(sizes, reverse=True), "lost_owners are not in order")


def check_fragmentation(host, rule):
    it = host.get("fragmentation")
    if it is None:
        return
    rule(it["from_ns"] <= it["seen_ns"], "fragmentation is seen before it is there")
    rule(it["empty_bytes"] + it["sparse_bytes"] <= it["resident_bytes"], "more is unused than is resident")
    shares = [part["owner_bytes"] for part in it["blocks_of"]]
    rule(sum(shares) <= it["sparse_bytes"], "stacks pin more than the sparse pages have")
    rule(shares == sorted(shares, reverse=True), "stacks that pin are not in order")


def check_untouched(host, rule):
    it = host.get("untouched")
    if it is None:
        return
    parts = it["blocks_of"]
    rule(it["untouched_bytes"] <= it["large_bytes"], "more is untouched than there is")
    rule(all(part["untouched_bytes"] <= part["large_bytes"] for part in parts), "a stack left more than it had")
    rule(sum(part["untouched_bytes"] for part in parts) <= it["untouched_bytes"], "stacks left more than all")
    order = [part["untouched_bytes"] for part in parts]
    rule(order == sorted(order, reverse=True), "stacks are not in order")


def check_holders(host, rule):
    entries = host.get("held_by", [])
    rule("held_by" not in host or entries, "held_by is there, and empty")
    for what in ("bytes", "count"):
        reachable = sum(host["sites"].get("reachable_" + what, []))
        held = sum(entry["held_" + what] for entry in entries)
        rule(held <= reachable, f"holders have {held} {what} of what is reachable, which is {reachable}")
    for entry in entries:
        rule(sum(part["owner_bytes"] for part in entry["blocks_of"]) <= entry["held_bytes"], "stacks have more than is held")
    sizes = [entry["held_bytes"] for entry in entries]
    rule(sizes == sorted(sizes, reverse=True), "held_by is not in order")
    keys = [(entry["kind"], entry["is_shared"], tuple(entry["names"]), entry["module"]) for entry in entries]
    rule(len(set(keys)) == len(keys), "a holder is there twice")


def check_scopes(extension, rule):
    scopes = extension.get("scopes", {}).get("scopes", [])
    launched = [extension.get("scopes", {}).get("outside", {})] + scopes
    rule(sum(kernel["launches_count"] for one in launched for kernel in one.get("kernels", []))
         <= extension.get("device_api", {}).get("kernel_launches_count", 0),
         "kernels by name were launched more often than all kernels")
    for index, scope in enumerate(scopes):
        where = f"scope {scope['name']!r}"
        rule(scope["parent"] <= index, f"{where} stands before the one around it")
        ends = scope["ended_count"] + scope["left_open_count"]
        rule(ends <= scope["begun_count"], f"{where} ended more often than it began")
        rule(sum(scope.get("durations_count", [])[1::2]) <= scope["ended_count"], f"{where} has more durations than ends")
        rule(scope["own_time_ns"] <= scope["time_ns"], f"{where} has more time of its own than in all")
        columns = scope.get("instances")
        count = len(columns["begin_ns"]) if columns else 0
        rule(count + scope.get("unkept_instances_count", 0) == scope["begun_count"] or "merged" in extension,
             f"{where}: {count} single runs are kept of {scope['begun_count']}, and it says otherwise")
        if not columns:
            continue
        memory = columns["memory"]
        lengths = {len(column) for column in columns.values() if column is not memory}
        lengths |= {len(device[key]) for device in memory for key in ("live_before_bytes", "live_after_bytes")}
        rule(lengths == {count}, f"{where}: columns of {lengths} numbers")
        rule(columns["begin_ns"] == sorted(columns["begin_ns"]), f"{where}: single runs are not in order")
        rule(all(begin <= end <= extension["run"]["duration_ns"]
                 for begin, end in zip(columns["begin_ns"], columns["end_ns"])), f"{where}: a run ends elsewhere")
        for device in memory:
            peaks = [it["totals"]["peak_bytes"] for it in extension["devices"] if it["name"] == device["device"]]
            rule(max(device["live_before_bytes"] + device["live_after_bytes"]) <= (peaks or [0])[0],
                 f"{where}: more was live on {device['device']} than at its peak")
    for device in extension["devices"]:
        memories = [memory for scope in scopes for memory in scope.get("memory", [])]
        of_device = [memory for memory in memories if memory["device"] == device["name"]]
        for name, total in (("allocated_bytes", "total_bytes"), ("allocated_count", "total_count")):
            rule(sum(memory[name] for memory in of_device) <= device["totals"][total],
                 f"scopes have more {name} of {device['name']} than all of the program")


def check_snapshots(profile, rule):
    extension = profile["heapprof"]
    kept = extension.get("snapshots", {})
    snapshots = kept.get("snapshots", [])
    times = [snapshot["at_ns"] for snapshot in snapshots]
    rule(times == sorted(times), "snapshots are not in the order of time")
    rule(len(snapshots) <= 1000, f"there are {len(snapshots)} snapshots")
    for device in extension["devices"]:
        points = profile["pps"] if device["name"] == "host" else device["pps"]
        sums = [[0, 0] for _ in snapshots]
        sites = device["sites"]
        for index, steps in zip(sites.get("stepped", []), sites.get("steps", [])):
            rule(steps[::3] == sorted(set(steps[::3])), f"{device['name']} {index}: steps are not in order")
            rule(max(steps[1::3]) <= points[index]["mb"], f"{device['name']} {index}: live at a snapshot is above mb")
            ends = steps[3::3] + [len(snapshots)]
            for at, end in zip(range(0, len(steps), 3), ends):
                for snapshot in range(steps[at], end):
                    sums[snapshot][0] += steps[at + 1]
                    sums[snapshot][1] += steps[at + 2]
        for number, snapshot in enumerate(snapshots):
            said = [[it["live_bytes"], it["live_count"]] for it in snapshot["devices"]
                    if it["device"] == device["name"]]
            rule(sums[number] == (said or [[0, 0]])[0],
                 f"snapshot {number + 1}: {device['name']} has {said}, its sites {sums[number]}")
    for number, snapshot in enumerate(snapshots):
        for device in snapshot["devices"]:
            sizes = [block["size_bytes"] for block in device["largest"]]
            rule(sizes == sorted(sizes, reverse=True) and len(sizes) <= 10 and sum(sizes) <= device["live_bytes"],
                 f"snapshot {number + 1}: the largest blocks of {device['device']} are {sizes}")
            rule(len(sizes) == min(10, device["live_count"]),
                 f"snapshot {number + 1}: {len(sizes)} largest blocks of {device['live_count']}")
    marks = extension.get("scopes", {}).get("marks", [])
    at_marks = [snapshot for snapshot in snapshots if snapshot["is_mark"]]
    if kept and kept["lost_count"] == 0 and "lost_marks_count" not in extension.get("scopes", {}):
        rule(len(marks) == len(at_marks), f"{len(marks)} marks, {len(at_marks)} snapshots of them")
    for mark, snapshot in zip(marks, at_marks):
        rule([mark["name"], mark["memory"]] ==
             [snapshot["name"], [{key: it[key] for key in ("device", "live_bytes", "live_count")}
                                 for it in snapshot["devices"]]],
             f"the mark {mark['name']!r} and its snapshot have other amounts")


def check_moments(profile, host, rule):
    points, sites, moments = profile["pps"], host["sites"], host.get("moments_ns", [])
    rule(moments == sorted(moments), "moments_ns is not in order")
    rule(all(moment <= profile["heapprof"]["run"]["duration_ns"] for moment in moments), "a moment is after the end")
    sums = [0] * len(moments)
    for index, live in zip(sites.get("sampled", []), sites.get("live_bytes", [])):
        rule(len(live) == len(moments), f"pps[{index}]: live_bytes has not one number a moment")
        rule(max(live) <= points[index]["mb"], f"pps[{index}]: live_bytes is above mb")
        sums = [a + b for a, b in zip(sums, live)]
    rule(all(total <= host["totals"]["peak_bytes"] for total in sums), "the sites' live_bytes sum to more than the peak")
    sized = zip(sites.get("sized", []), sites.get("smallest_bytes", []), sites.get("largest_bytes", []))
    for index, smallest, largest in sized:
        bytes_, blocks = points[index]["tb"], points[index]["tbk"]
        rule(largest > 0 and smallest * blocks <= bytes_ <= largest * blocks,
             f"pps[{index}]: sizes from {smallest} to {largest}, on average {bytes_ / blocks}")
    for index, pp in enumerate(points):
        rule(index in sites.get("sized", []) or pp["tb"] % pp["tbk"] == 0,
             f"pps[{index}]: blocks of one size that do not add up")
    resized = zip(sites.get("resized", []), sites.get("resized_count", []), sites.get("moved_bytes", []))
    for index, blocks, moved in resized:
        rule(0 < blocks <= points[index]["tbk"], f"pps[{index}]: resized_count {blocks} of {points[index]['tbk']} blocks")
        rule(moved <= points[index]["tb"], f"pps[{index}]: moved_bytes is above tb")


def check_numbers(value, rule, path):
    """Integers below 2^53 in what viewers read, no negative or fractional number anywhere."""
    if isinstance(value, dict):
        for key, item in value.items():
            check_numbers(item, rule, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            check_numbers(item, rule, path)
    elif isinstance(value, bool):
        pass
    elif isinstance(value, int):
        may_be = (".heapprof.frames.module", ".heapprof.scopes.scopes.instances.growth_bytes")
        rule(value >= 0 or path in may_be, f"{path} is negative: {value}")
        rule(value < 1 << 53 or path.startswith(".heapprof"), f"{path} is beyond 2^53: {value}")
    elif isinstance(value, float):
        rule(False, f"{path} is not an integer: {value}")


def main():
    status = 0
    for path in sys.argv[1:]:
        raw = open(path, "rb").read()
        try:
            broken = check(json.loads(raw.decode("utf-8")))
        except ValueError as error:
            broken = [f"not JSON in UTF-8: {error}"]
        for line in broken[:20]:
            print(f"{path}: {line}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
