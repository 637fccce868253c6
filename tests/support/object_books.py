#!/usr/bin/env python3
"""tests/support/object_books.py: compares the books of targets/malloc/python/object_oracle.cc with the device "python"
of profiles, to the byte.

usage: object_books.py BOOKS PROFILE…    each profile with the books BOOKS.PID of its process; prints how many agreed
"""
import json
import struct
import sys

NAMES = ("total_bytes", "total_count", "live_bytes", "live_count", "peak_bytes", "unknown")


def main():
    base, paths = sys.argv[1], sys.argv[2:]
    wrong = 0
    for path in paths:
        profile = json.load(open(path, encoding="utf-8"))["heapprof"]
        pid = profile["run"]["pid"]
        books = dict(zip(NAMES, struct.unpack("6Q", open(f"{base}.{pid}", "rb").read())))
        devices = [device for device in profile["devices"] if device["name"] == "python"]
        if len(devices) != 1:
            sys.exit(f"{path}: {len(devices)} devices of Python")
        totals = devices[0]["totals"]
        said = {"total_bytes": totals["total_bytes"], "total_count": totals["total_count"],
                "live_bytes": totals["leaked_bytes"], "live_count": totals["leaked_count"], "peak_bytes": totals["peak_bytes"]}
        if profile["counters"]["lost_count"] or profile["counters"]["unmatched_device_events_count"]:
            wrong += 1
            print(f"{path}: lost {profile['counters']['lost_count']}, unmatched {profile['counters']['unmatched_device_events_count']}")
        for name, value in said.items():
            if value != books[name]:
                wrong += 1
                print(f"{path}: {name}: the profile says {value:,}, the books {books[name]:,}")
        if books["total_count"] < 1000:
            wrong += 1
            print(f"{path}: the books have {books['total_count']} blocks: nothing was tried")
    if wrong:
        sys.exit(1)
    print(f"{len(paths)} agree")


main()
