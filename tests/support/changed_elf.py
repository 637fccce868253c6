#!/usr/bin/env python3
"""tests/support/changed_elf.py: changes an ELF file as tools do that tests cannot count on.

usage: changed_elf.py FILE CHANGE OUTPUT
  no_sections    section headers, and all that no segment holds, are cut off (sstrip)
  no_hash        the dynamic section names no hash table any more
  no_count       nor how many relocations name no symbol
  far_strings    the name of each symbol that is not looked for leads out of all memory (st_name: 2 GiB)
  no_notes       notes claim more bytes than there are
  cut_tables     PT_GNU_EH_FRAME leads to where nothing is
"""
import struct
import sys

LOAD, DYNAMIC, NOTE, EH_FRAME = 1, 2, 4, 0x6474E550
HASH, STRTAB, SYMTAB, RELACOUNT, GNU_HASH, BIND_NOW = 4, 5, 6, 0x6FFFFFF9, 0x6FFFFEF5, 24


class Elf:
    def __init__(self, data):
        self.data = bytearray(data)
        self.header_off = struct.unpack_from("<Q", data, 32)[0]
        self.count = struct.unpack_from("<H", data, 56)[0]

    def headers(self):
        """(where it is in the file, type, flags, offset, address, bytes in the file, bytes in memory)"""
        for i in range(self.count):
            at = self.header_off + 56 * i
            kind, flags, offset, address, _, in_file, in_memory, _ = struct.unpack_from("<IIQQQQQQ", self.data, at)
            yield at, kind, flags, offset, address, in_file, in_memory

    def offset_of(self, address):
        for _, kind, _, offset, start, in_file, _ in self.headers():
            if kind == LOAD and start <= address < start + in_file:
                return offset + address - start
        raise SystemExit(f"{address:#x} is in no segment")

    def dynamic(self):
        for _, kind, _, offset, _, in_file, _ in self.headers():
            if kind == DYNAMIC:
                for at in range(offset, offset + in_file, 16):
                    tag, value = struct.unpack_from("<QQ", self.data, at)
                    if tag == 0:
                        return
                    yield at, tag, value

    def drop(self, tags):
        for at, tag, _ in list(self.dynamic()):
            if tag in tags:
                struct.pack_into("<QQ", self.data, at, 0x6FFFFE00, 0)  # an unknown tag


def no_sections(elf):
    end = max(offset + in_file for _, _, _, offset, _, in_file, _ in elf.headers())
    struct.pack_into("<Q", elf.data, 40, 0)
    struct.pack_into("<HHH", elf.data, 58, 0, 0, 0)
    del elf.data[end:]


def no_notes(elf):
    for at, kind, _, offset, _, in_file, _ in elf.headers():
        if kind == NOTE and in_file >= 12:
            struct.pack_into("<I", elf.data, offset + 4, 0xFFFFFFF0)


def cut_tables(elf):
    for at, kind, *_ in elf.headers():
        if kind == EH_FRAME:
            struct.pack_into("<Q", elf.data, at + 16, 0x7FFFFFFFF000)


def far_strings(elf):
    tables = {tag: value for _, tag, value in elf.dynamic()}
    symbols, strings = elf.offset_of(tables[SYMTAB]), elf.offset_of(tables[STRTAB])
    header = elf.offset_of(tables[GNU_HASH])
    _, first, _, _ = struct.unpack_from("<IIII", elf.data, header)
    for index in range(first, first + 90):  # of the exported ones
        at = symbols + 24 * index
        name = elf.data[strings + struct.unpack_from("<I", elf.data, at)[0]:][:9]
        if name == b"exported_":
            struct.pack_into("<I", elf.data, at, 0x7FFFFFF0)


CHANGES = {
    "no_sections": no_sections,
    "no_hash": lambda elf: elf.drop({HASH, GNU_HASH}),
    "no_count": lambda elf: elf.drop({RELACOUNT}),
    "no_notes": no_notes,
    "cut_tables": cut_tables,
    "far_strings": far_strings,
}

if len(sys.argv) != 4 or sys.argv[2] not in CHANGES:
    sys.exit(__doc__)
with open(sys.argv[1], "rb") as source:
    image = Elf(source.read())
CHANGES[sys.argv[2]](image)
with open(sys.argv[3], "wb") as target:
    target.write(image.data)
