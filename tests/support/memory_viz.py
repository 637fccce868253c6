#!/usr/bin/env python3
"""Reads what `heapprof export --format memory-viz` wrote, as PyTorch's viewer would, and holds it against the books of
the program.

usage: memory_viz.py SNAPSHOT.pickle BOOKS.txt [device names…]
BOOKS.txt has lines "segment N address bytes" and "block N address bytes"; without any, only the file itself is looked
at. It prints what it counted, a line for each device, and exits with 1 and a word where something is wrong.
"""
import pickle
import pickletools
import sys

# Those that the viewer's own reader knows.
OPCODES = set(
    "EMPTY_DICT EMPTY_LIST APPENDS APPEND SETITEMS SETITEM MARK BININT1 BININT2 BININT LONG1 SHORT_BINUNICODE "
    "BINUNICODE NONE NEWTRUE NEWFALSE BINFLOAT BINGET LONG_BINGET BINPUT LONG_BINPUT MEMOIZE TUPLE TUPLE1 TUPLE2 "
    "TUPLE3 EMPTY_TUPLE LIST DICT FRAME PROTO STOP".split())
MOST_AT_ONCE = 10000  # elements that one APPENDS may bring: the viewer hands them to one call


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"it names {module}.{name}")


def wrong(text):
    print(f"WRONG: {text}")
    sys.exit(1)


def expect(condition, text):
    if not condition:
        wrong(text)


def load(path):
    depth = []
    with open(path, "rb") as file:
        for opcode, argument, _ in pickletools.genops(file):
            expect(opcode.name in OPCODES, f"opcode {opcode.name}")
            expect(opcode.name != "PROTO" or argument == 4, f"protocol {argument}")
            if isinstance(argument, int) and opcode.name == "LONG1":
                expect(0 <= argument < 2**53, f"the number {argument}")
    with open(path, "rb") as file:
        return Plain(file).load()


def check_frames(frames):
    for frame in frames:
        expect(set(frame) == {"name", "filename", "line"}, f"a frame is {frame}")
        expect(isinstance(frame["name"], str) and isinstance(frame["filename"], str), f"a frame is {frame}")


def check_segment(segment):
    at = segment["address"]
    allocated = 0
    for block in segment["blocks"]:
        expect(block["address"] == at, "a block does not begin where the one before it ends")
        expect(block["state"] in ("active_allocated", "inactive"), f"a block is {block['state']}")
        expect(block["size"] > 0 and block["requested_size"] == block["size"], "a block's size")
        check_frames(block["frames"])
        expect((block["state"] == "inactive") <= (not block["frames"]), "a gap has a stack")
        at += block["size"]
        if block["state"] != "inactive":
            allocated += block["size"]
    expect(at == segment["address"] + segment["total_size"], "the blocks do not sum to their segment")
    expect(allocated == segment["allocated_size"] == segment["active_size"], "allocated_size is not that of the blocks")
    expect(segment["segment_type"] in ("large", "small"), "a segment's type")
    expect(segment["segment_pool_id"] == (0, 0), "a segment's pool")


class State:
    """Segments and blocks, as the viewer keeps them while it goes back."""

    def __init__(self, segments):
        self.pieces = {}  # by address: size; a segment that grows is cut where it was mapped
        self.blocks = {}
        for segment in segments:
            self.pieces[segment["address"]] = segment["total_size"]
            for block in segment["blocks"]:
                if block["state"] != "inactive":
                    self.blocks[block["address"]] = block["size"]

    def unmap(self, address, size):
        for start, bytes_there in self.pieces.items():
            if start <= address and address + size <= start + bytes_there:
                break
        else:
            wrong(f"nothing is mapped at {address:#x} when its mapping is taken back")
        del self.pieces[start]
        if start < address:
            self.pieces[start] = address - start
        if address + size < start + bytes_there:
            self.pieces[address + size] = start + bytes_there - address - size

    def take_back(self, event):
        action, address, size = event["action"], event.get("addr"), event["size"]
        if action in ("segment_free", "segment_unmap"):
            expect(address not in self.pieces, f"{action}: there is a segment at {address:#x}")
            self.pieces[address] = size
        elif action == "segment_alloc":
            expect(self.pieces.pop(address, None) == size, f"{action}: no such segment at {address:#x}")
        elif action == "segment_map":
            self.unmap(address, size)
        elif action == "free_completed":
            expect(address not in self.blocks, f"{action}: there is a block at {address:#x}")
            self.blocks[address] = size
        elif action == "alloc":
            expect(self.blocks.pop(address, None) == size, f"{action}: no such block at {address:#x}")
        elif action == "free_requested":
            expect(self.blocks.get(address) == size, f"{action}: no such block at {address:#x}")
        else:
            expect(action == "oom", f"the action {action}")

    def check(self):
        pieces = sorted(self.pieces.items())
        for (a, size), (b, _) in zip(pieces, pieces[1:]):
            expect(a + size <= b, "two segments overlap")
        blocks = sorted(self.blocks.items())
        for (a, size), (b, _) in zip(blocks, blocks[1:]):
            expect(a + size <= b, "two blocks overlap")
        at = 0
        for address, size in blocks:
            while size > 0:
                while at < len(pieces) and pieces[at][0] + pieces[at][1] <= address:
                    at += 1
                expect(at < len(pieces) and pieces[at][0] <= address, f"the block at {address:#x} is in no segment")
                part = min(size, pieces[at][0] + pieces[at][1] - address)
                address, size = address + part, size - part


def read_books(path):
    books = {"segment": {}, "block": {}}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] in books:
                books[words[0]].setdefault(int(words[1]), {})[int(words[2])] = int(words[3])
    return books


def main():
    snapshot = load(sys.argv[1])
    books = read_books(sys.argv[2])
    names = snapshot["heapprof"]["devices"]
    expect(sys.argv[3:] == [] or names == sys.argv[3:], f"the devices are {names}")
    expect(len(names) == len(snapshot["device_traces"]), "there is not one trace for each device")
    for device, trace in enumerate(snapshot["device_traces"]):
        segments = [segment for segment in snapshot["segments"] if segment["device"] == device]
        for segment in segments:
            check_segment(segment)
        state = State(segments)
        if books["segment"]:
            expect(state.pieces == books["segment"].get(device, {}), f"device {device}: segments that are not the program's")
            expect(state.blocks == books["block"].get(device, {}), f"device {device}: blocks that are not the program's")
        before = None
        scopes = 0
        for index in range(len(trace) - 1, -1, -1):
            event = trace[index]
            expect(before is None or event["time_us"] <= before, "time runs backwards")
            before = event["time_us"]
            check_frames(event["frames"])
            is_end = event["action"] in ("free_requested", "free_completed", "segment_free", "segment_unmap")
            expect(not (is_end and event["frames"]), "an end has a stack, which none took")
            expect((event["action"] == "oom") == isinstance(event.get("device_free"), int), "what the device had free")
            scopes += "user_metadata" in event
            if event["action"] == "free_completed":
                last = trace[index - 1]
                expect((last["action"], last["addr"]) == ("free_requested", event["addr"]), "an end is not both")
            state.take_back(event)
            state.check()
        print(f"device {device} {names[device]}: events {len(trace)}, in scopes {scopes}, segments {len(segments)}, "
              f"at the beginning {len(state.pieces)} segments {len(state.blocks)} blocks")


if __name__ == "__main__":
    main()
