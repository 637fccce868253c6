#!/usr/bin/env python3
"""tests/support/perfetto.py: reads an export in Perfetto's format as its trace processor does, with a decoder of its
own, and holds what it says against the profile.

usage: perfetto.py PROFILE.json TRACE    (TRACE: a trace, gzip'd or not)
       perfetto.py --archive ARCHIVE.tar PROFILE.json…
       perfetto.py --alone TRACE…     without a profile: whether a reader could make anything of it

Checked are: packets and nothing else; every sequence begins its state, and nothing is named that was not interned in
it before; all times are of a clock that was related to the trace's and to BOOTTIME, which relates the files of an
archive, and do not go backwards on a track; slices nest; heaps have names that the viewer takes whole, and no two dumps
one time, by which its library joins them; the largest value of a counter is the device's peak, and is there at its
moment; and for each heap what trace_processor puts into heap_profile_allocation (differences of sums, by process and
stack, in one sequence): none is malformed, and they add up to the profile's totals, leaks and peaks, and at each
snapshot to what was live then.
"""
import collections
import gzip
import io
import json
import sys
import tarfile

REALTIME, COARSE, BOOTTIME = 1, 4, 6
APART_NS = 1000  # dumps of one moment are closer than that


def fail(what):
    sys.exit(f"perfetto.py: {what}")


def fields(data):
    """Of a message: field → list of values; a number, or bytes."""
    at, found = 0, collections.defaultdict(list)
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            found[tag >> 3].append(varint())
        elif tag & 7 == 2:
            size = varint()
            if at + size > len(data):
                fail("a message goes beyond its end")
            found[tag >> 3].append(data[at:at + size])
            at += size
        else:
            fail(f"wire type {tag & 7}")
    return found


def one(message, field, default=0):
    values = message.get(field, [])
    if len(values) > 1:
        fail(f"field {field} is there {len(values)} times")
    return values[0] if values else default


def text(value):
    return value.decode("utf-8")  # raises where it is none


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Sequence:
    def __init__(self):
        self.begun = False
        self.tables = collections.defaultdict(dict)  # by field of InternedData
        self.dump_index = 0
        self.sums = {}  # what trace_processor remembers: by process and stack
        self.pending = []

    def intern(self, data):
        for field, entries in fields(data).items():
            for entry in entries:
                message = fields(entry)
                number = one(message, 1)
                if number == 0 or number in self.tables[field]:
                    fail(f"interned id {number} of {field} is 0, or there twice")
                self.tables[field][number] = message

    def text(self, field, number):
        if number == 0:
            return ""
        if number not in self.tables[field]:
            fail(f"id {number} of {field} is not interned")
        return text(one(self.tables[field][number], 2, b""))

    def stack(self, number):
        names = []
        if number not in self.tables[7]:
            fail(f"stack {number} is not interned")
        for frame_number in self.tables[7][number].get(2, []):
            if frame_number not in self.tables[6]:
                fail(f"frame {frame_number} is not interned")
            frame = self.tables[6][frame_number]
            mapping_number = one(frame, 3)
            if mapping_number not in self.tables[19]:
                fail(f"mapping {mapping_number} is not interned")
            mapping = self.tables[19][mapping_number]
            if one(mapping, 2) != 0 and one(mapping, 2) not in self.tables[16]:
                fail("a build id is not interned")
            path = "/".join(self.text(17, n) for n in mapping.get(7, []))
            self.text(18, one(frame, 5))
            names.append((path, one(frame, 4), self.text(5, one(frame, 2))))
        if not names:
            fail("a stack is empty")
        return tuple(names)


class Trace:
    def __init__(self, data):
        self.clocks = set()
        self.primary = None
        self.tracks = {}
        self.sequences = collections.defaultdict(Sequence)
        self.allocations = []  # (time, pid, heap, stack, count, size)
        self.open = collections.defaultdict(list)
        self.last = {}
        self.slices = collections.Counter()
        self.instants = []
        self.counters = collections.defaultdict(list)
        self.dumps = {}  # by time: the heap
        self.intervals = {}  # by heap: sampling_interval_bytes
        top = fields(data)
        if set(top) - {1}:
            fail(f"top fields {sorted(top)}")
        for packet in top[1]:
            self.read(fields(packet))
        for track, names in self.open.items():
            if names:
                fail(f"slices left open on {track}: {names[:3]}")

    def read(self, packet):
        sequence = self.sequences[one(packet, 10)]
        flags = one(packet, 13)
        if one(packet, 10) == 0 or not (flags & 1) != sequence.begun:
            fail(f"sequence {one(packet, 10)}: flags {flags}, begun: {sequence.begun}")
        sequence.begun = True
        if 8 in packet and one(packet, 58) not in self.clocks:
            fail("a time of a clock that is related to none")
        for data in packet.get(12, []):
            sequence.intern(data)
        for data in packet.get(6, []):
            snapshot = fields(data)
            self.primary = one(snapshot, 2)
            clocks = {one(fields(clock), 1): one(fields(clock), 2) for clock in snapshot[1]}
            if not {REALTIME, COARSE, BOOTTIME} <= set(clocks) or len(set(clocks.values())) != 1:
                fail(f"the clocks {clocks}: one is missing, or reads something else")
            self.clocks |= set(clocks)
        for data in packet.get(60, []):
            self.describe(fields(data))
        for data in packet.get(11, []):
            self.event(one(packet, 8), fields(data), sequence)
        for data in packet.get(37, []):
            self.dump(fields(data), sequence)

    def describe(self, track):
        number = one(track, 1)
        if number == 0 or number in self.tracks or (5 in track and one(track, 5) not in self.tracks):
            fail(f"track {number} is 0, or there twice, or its parent is not there")
        self.tracks[number] = track

    def event(self, time, event, sequence):
        track, kind = one(event, 11), one(event, 9)
        if track not in self.tracks:
            fail(f"an event on track {track}, which was not described")
        if time < self.last.get(track, 0):
            fail(f"time goes back on track {track}")
        self.last[track] = time
        for annotation in event.get(4, []):
            sequence.text(3, one(fields(annotation), 1))
        if kind == 4:
            self.counters[text(one(self.tracks[track], 2))].append((time, signed(one(event, 30))))
            if one(fields(one(self.tracks[track], 8)), 3) != 3:
                fail("a counter is not in bytes")
            return
        if kind == 2:
            if not self.open[track]:
                fail("an end without a begin")
            self.open[track].pop()
            return
        name = sequence.text(2, one(event, 10))
        if not sequence.text(1, one(event, 3)):
            fail("an event without a category")
        if kind == 1:
            self.open[track].append(name)
            self.slices[name] += 1
        elif kind == 3:
            self.instants.append(name)
        else:
            fail(f"an event of type {kind}")

    def dump(self, profile, sequence):
        if one(profile, 7) != sequence.dump_index:
            fail("profile packets are not in order")
        sequence.dump_index += 1
        for data in profile[5]:
            dump = fields(data)
            heap, time = text(one(dump, 11)), one(dump, 9)
            if time >= 1 << 63 or self.dumps.setdefault(time, (heap, id(sequence))) != (heap, id(sequence)):
                fail(f"{heap} and {self.dumps[time]} have dumps at {time}")
            if self.intervals.setdefault(heap, one(dump, 12)) != one(dump, 12):
                fail(f"two intervals of sampling of {heap}")
            for entry in dump.get(2, []):
                sample = fields(entry)
                sequence.pending.append((time, one(dump, 1), heap,
                                         sequence.stack(one(sample, 1)), one(sample, 5), one(sample, 2),
                                         one(sample, 6), one(sample, 3)))
        if one(profile, 6):
            return
        if COARSE not in self.clocks:
            fail("heap profiles of a clock that is related to none")
        for time, pid, heap, stack, count, size, freed_count, freed in sequence.pending:
            if not heap or set("':;\"`") & set(heap):
                fail(f"the heap's name {heap!r}")
            before = sequence.sums.get((pid, stack), (0, 0, 0, 0))
            delta = [new - old for new, old in zip((count, size, freed_count, freed), before)]
            if min(delta) < 0 or max(count, size, freed_count, freed) >= 1 << 63:
                fail(f"malformed: {heap} {stack[-1]} {delta}")
            sequence.sums[(pid, stack)] = (count, size, freed_count, freed)
            if delta[0] or delta[1]:
                self.allocations.append((time, pid, heap, stack, delta[0], delta[1]))
            if delta[2] or delta[3]:
                self.allocations.append((time, pid, heap, stack, -delta[2], -delta[3]))
        sequence.pending = []

    def sum(self, heap, column, only=lambda row: True):
        return sum(row[column] for row in self.allocations if row[2] == heap and only(row))


def expect(what, got, wanted):
    if got != wanted:
        fail(f"{what}: {got} in the trace, {wanted} in the profile")


def check(profile, data):
    trace = Trace(data)
    expect("the clock", trace.primary, REALTIME)
    ours = profile["heapprof"]
    start = ours["run"]["start_unix_ns"]
    for device in ours["devices"]:
        name, totals = device["name"], device["totals"]
        shown = name.translate(str.maketrans("'\"\\`;:", "______"))
        end = "libc.malloc" if name == "host" else shown
        sampled = ours.get("sampling", {}).get("interval_bytes", 0) if name == "host" else 0
        expect(f"{name}: intervals", {heap: bytes_ for heap, bytes_ in trace.intervals.items()
                                      if heap in (end, shown + " at the peak", shown + " at snapshots")
                                      and bytes_ != sampled}, {})
        grows = lambda row: row[5] > 0 or row[4] > 0
        expect(f"{name}: total", trace.sum(end, 5, grows), totals["total_bytes"])
        expect(f"{name}: allocations", trace.sum(end, 4, grows), totals["total_count"])
        expect(f"{name}: leaked", trace.sum(end, 5), totals["leaked_bytes"])
        expect(f"{name}: leaked blocks", trace.sum(end, 4), totals["leaked_count"])
        expect(f"{name}: peak", trace.sum(shown + " at the peak", 5), totals["peak_bytes"])
        expect(f"{name}: blocks at the peak", trace.sum(shown + " at the peak", 4), totals["peak_count"])
        counter = trace.counters.get(name + " live", [])
        if device.get("timeline", {}).get("max_bytes"):
            expect(f"{name}: largest of the counter", max(value for _, value in counter), totals["peak_bytes"])
            if totals["peak_bytes"] and (start + totals["peak_ns"], totals["peak_bytes"]) not in counter:
                fail(f"{name}: the counter has no peak at its moment")
            expect(f"{name}: last of the counter", counter[-1][1], totals["leaked_bytes"])
        else:
            expect(f"{name}: values of the counter", counter, [])
        for snapshot in ours.get("snapshots", {}).get("snapshots", []):
            for live in snapshot["devices"]:
                if live["device"] != name:
                    continue
                until = lambda row, at=start + snapshot["at_ns"]: row[0] < at + APART_NS
                expect(f"{name} at {snapshot['at_ns']}", trace.sum(shown + " at snapshots", 5, until),
                       live["live_bytes"])
    scopes = ours.get("scopes", {}).get("scopes", [])
    kept = sum(len(scope.get("instances", {}).get("begin_ns", [])) for scope in scopes)
    expect("runs through scopes", sum(trace.slices.values()), kept)
    marks = len(ours.get("scopes", {}).get("marks", []))
    expect("instants", len(trace.instants), marks + len(ours.get("snapshots", {}).get("snapshots", [])))
    heaps = sorted({row[2] for row in trace.allocations})
    print(f"{len(trace.sequences)} sequences, {len(trace.tracks)} tracks, {sum(trace.slices.values())} slices, "
          f"{len(trace.instants)} instants, {sum(map(len, trace.counters.values()))} values, heaps: {', '.join(heaps)}")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    if sys.argv[1] == "--alone":
        for path in sys.argv[2:]:
            with open(path, "rb") as file:
                Trace(file.read())
        return
    if sys.argv[1] == "--archive":
        with tarfile.open(sys.argv[2], "r:") as archive:
            names = archive.getnames()
            manifest = archive.extractfile("perfetto_manifest.json").read()
            if not manifest.startswith(b'{"perfetto_manifest"'):
                fail("the manifest is not known as one")
            listed = json.loads(manifest)["perfetto_manifest"]
            expect("files", [entry["path"] for entry in listed["files"]], names[1:])
            expect("version", listed["version"], 1)
            seen = set()
            for path, entry in zip(sys.argv[3:], listed["files"], strict=True):
                profile = load(path)
                key = (entry.get("machine", {}).get("name"), profile["heapprof"]["run"]["pid"])
                if key in seen:
                    fail(f"two processes of one machine and id: {key}")
                seen.add(key)
                check(profile, archive.extractfile(entry["path"]).read())
        return
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.GzipFile(fileobj=io.BytesIO(data)).read()
    check(load(sys.argv[1]), data)


main()
