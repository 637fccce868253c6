#!/usr/bin/env python3
"""tests/support/counters.py: are the profiles of `workers` as its threads counted themselves?

usage: counters.py COUNTERS THREADS PROFILE [exact|killed]
PROFILE is the first process's; those of its children are beside it, NAME.PID.json. A thread that was killed may have
published one event that it had not counted yet: "killed" allows for one more allocation and one more free a thread,
never for one less. Prints what differs, and at the end how many threads and events were compared; exit status 1 if
anything differs.
"""
import json
import os
import re
import struct
import sys

SLOT = struct.Struct("<4Q32x")
SIZE_BYTES = 1235


class Slot:
    def __init__(self, number, raw):
        self.number = number
        self.pid, self.thread_id, self.allocations, self.frees = SLOT.unpack(raw)


def read_slots(path):
    with open(path, "rb") as file:
        raw = file.read()
    return [Slot(i, raw[at:at + SLOT.size]) for i, at in enumerate(range(0, len(raw), SLOT.size))]


def profile_of(pid, root_pid, root_profile):
    return root_profile if pid == root_pid else re.sub(r"\.json$", f".{pid}.json", root_profile)


def blocks_of_workers(profile):
    worker = [": allocate_one" in text for text in profile["ftbl"]]
    points = [pp for pp in profile["pps"] if any(worker[f] for f in pp["fs"])]
    return tuple(sum(pp[name] for pp in points) for name in ("tbk", "tb", "ebk"))


def compare_process(slots, path, ahead):
    """What differs between one profile and the slots of its process; `ahead`: events that a thread may be ahead of its
    count."""
    if not os.path.exists(path):
        return [f"{path} is missing"] if any(s.allocations for s in slots) else []
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    wrong = []
    extension = profile["heapprof"]
    counters = extension["counters"]
    for name in ("lost_count", "corrupt_records_count", "foreign_frees_count", "unseen_frees_count",
                 "modules_lost_count"):
        if counters[name] != 0:
            wrong.append(f"{name} is {counters[name]}")
    if not extension["run"]["complete"]:
        wrong.append(f"incomplete: {extension['run']['incomplete_reason']}")
    threads = {t["id"]: t for t in extension["threads"]}
    for slot in slots:
        if slot.thread_id == 0:
            continue
        thread = threads.get(slot.thread_id, {"allocations_count": 0, "frees_count": 0})
        for name, counted in (("allocations_count", slot.allocations), ("frees_count", slot.frees)):
            if not counted <= thread[name] <= counted + ahead:
                wrong.append(f"thread {slot.thread_id}: {name} is {thread[name]}, it counted {counted} itself")
    counted = sum(s.allocations for s in slots)
    freed = sum(s.frees for s in slots)
    blocks, total_bytes, live = blocks_of_workers(profile)
    most = ahead * len(slots)
    if not counted <= blocks <= counted + most:
        wrong.append(f"{blocks} blocks, the threads counted {counted}")
    if total_bytes != blocks * SIZE_BYTES:
        wrong.append(f"{total_bytes} bytes in {blocks} blocks")
    if not counted - freed - most <= live <= counted - freed + most:
        wrong.append(f"{live} blocks are live at the end, the threads counted {counted - freed}")
    return [f"{path}: {text}" for text in wrong]


def compare(counters_path, threads, root_profile, ahead):
    slots = read_slots(counters_path)
    root_pid = next((slot.pid for slot in slots[:threads] if slot.pid != 0),
                    0)  # a thread may not have come to its first block
    wrong = []
    for first in range(0, len(slots), threads):
        mine = slots[first:first + threads]
        pids = {s.pid for s in mine if s.pid != 0}
        if len(pids) == 1:
            wrong += compare_process(mine, profile_of(pids.pop(), root_pid, root_profile), ahead)
    events = sum(s.allocations + s.frees for s in slots)
    return wrong, len([s for s in slots if s.thread_id]), events


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    wrong, threads, events = compare(sys.argv[1], int(sys.argv[2]), sys.argv[3], 0 if sys.argv[4:] == ["exact"] else 1)
    for line in wrong:
        print(line)
    print(f"{threads} threads, {events} events counted by themselves")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
