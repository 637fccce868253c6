#!/usr/bin/env python3
"""tests/support/attack_books.py: are the profiles of a run of `attack` what the books of its processes say?

usage: attack_books.py BOOKS SITES PROFILE…
SITES is a file with what `attack sites` prints. Every process that allocated has its profile; every site has its
blocks and bytes, to the byte, unless a call of it was interrupted for ever (by a kill, or by a jump): then the
profile's number lies between what was begun and what was done. Every stack of a site is as the source has it. Prints
what differs; exit status 1 if anything does.
"""
import json
import re
import struct
import sys

HEAD = struct.Struct("<QIIQ")
BOOK = struct.Struct("<iIIIII40s")
SITE = struct.Struct("<10Q")
MAGIC = 0x6B6F6F4261747441
PAGE = 4096
MOST_STEPS = 512
NOT_REACHED, BEGUN = -(1 << 63), -(1 << 63) + 1
EXCUSE_PROFILE, EXCUSE_INCOMPLETE, EXCUSE_KILLED = 1, 2, 4
EXCUSE_STACKS, EXCUSE_RESUMED = 8, 16

FRAME = re.compile(r"^0x[0-9A-Fa-f]+: (.*?)(?: \((?:in )?[^()]*\))?$")
# Where a stack ends. That of a coroutine ends where glibc says nothing of the frame (makecontext's return address is
# the first byte of a function, and what is looked up is the byte before).
OUTERMOST = {"_start", "clone3", "__clone3", "clone", "__clone", "__start_context", "start_thread"}


class Book:
    def __init__(self, raw, sites):
        self.pid, self.index, self.parent, self.excuses, self.is_image, self.step, why = BOOK.unpack_from(raw)
        self.why = why.split(b"\0", 1)[0].decode()
        self.sites = {}
        for number, name in enumerate(sites):
            counts = SITE.unpack_from(raw, BOOK.size + number * SITE.size)
            if any(counts):
                self.sites[name] = counts

    def __str__(self):
        return f"process {self.index} ({self.why}, step {self.step}, pid {self.pid})"

    def allocated(self):
        return any(counts[2] > counts[8] for counts in self.sites.values())


class Books:
    def __init__(self, path, sites):
        with open(path, "rb") as file:
            head = file.read(PAGE * 2)
            magic, processes, site_count, book_bytes = HEAD.unpack_from(head)
            if magic != MAGIC or site_count != len(sites):
                raise ValueError(f"{path} is no books of this program")
            results = struct.unpack_from(f"<{MOST_STEPS}q", head, HEAD.size)
            self.results = list(results)
            head_bytes = (HEAD.size + MOST_STEPS * 8 + PAGE - 1) // PAGE * PAGE
            self.processes = []
            for index in range(min(processes, 2048)):
                file.seek(head_bytes + index * book_bytes)
                self.processes.append(Book(file.read(book_bytes), sites))


def name_of(frame):
    match = FRAME.match(frame)
    text = match.group(1) if match else frame
    return text.replace("(anonymous namespace)::", "").split("(")[0].removeprefix("attack::")


def expected_callers(site):
    if site.startswith("plugin_site_"):
        return ["plugin_middle_" + site[-1], "plugin_entry"]
    return ["via_" + site.removeprefix("site_")]


def numbers_by_site(profile, sites, wrong, stacks_matter):
    known = set(sites)
    names = [name_of(frame) for frame in profile["ftbl"]]
    found = {}
    for pp in profile["pps"]:
        frames = [names[i] for i in pp["fs"]]
        place = next((i for i, name in enumerate(frames) if name in known), None)
        if place is None:
            continue
        site = frames[place]
        sums = found.setdefault(site, [0, 0, 0, 0])
        for i, field in enumerate(("tbk", "tb", "ebk", "eb")):
            sums[i] += pp[field]
        callers = expected_callers(site)
        if frames[place + 1:place + 1 + len(callers)] != callers:
            wrong.append(("stacks", f"{site} is called by {' < '.join(frames[place + 1:place + 4])}"))
        elif stacks_matter and frames[-1] not in OUTERMOST and "run_coroutine" not in frames:
            wrong.append(("stacks", f"{site}: the outermost frame is {frames[-1]}: {' < '.join(frames[place:])}"))
    return found


def compare_process(book, profile, sites):
    """(kind, text) of everything that differs between the books of a process and its profile."""
    wrong = []
    extension = profile["heapprof"]
    incomplete = book.excuses & EXCUSE_INCOMPLETE and extension["counters"]["lost_count"] > 0
    found = numbers_by_site(profile, sites, wrong, not book.excuses & EXCUSE_INCOMPLETE)
    for site in sorted(set(found) | set(book.sites)):
        got = found.get(site, [0, 0, 0, 0])
        counts = book.sites.get(site, (0,) * 10)
        begun, done, ending, ended, slack = counts[0:2], counts[2:4], counts[4:6], counts[6:8], counts[8:10]
        for i, unit in enumerate(("blocks", "bytes")):
            low = 0 if incomplete else done[i] - slack[i]
            high = begun[i] + slack[i]
            if not low <= got[i] <= high:
                wrong.append((f"{unit} in all", f"{site}: {got[i]} {unit}, the books say {span(low, high)}"))
            low, high = done[i] - ending[i] - slack[i], begun[i] - ended[i] + slack[i]
            if not incomplete and not low <= got[2 + i] <= high:
                wrong.append((f"live {unit}", f"{site}: {got[2 + i]} live {unit}, the books say {span(low, high)}"))
    allowed = set()
    if book.excuses & EXCUSE_INCOMPLETE:
        allowed |= {"lost_count", "foreign_frees_count", "unseen_frees_count"}
    if book.excuses & (EXCUSE_KILLED | EXCUSE_RESUMED):
        allowed |= {"unseen_frees_count"}
    if book.excuses & EXCUSE_RESUMED:
        allowed |= {"foreign_frees_count"}
    if book.excuses & EXCUSE_STACKS:
        allowed |= {"truncated_stacks_count"}
    for name in ("lost_count", "foreign_frees_count", "unseen_frees_count", "truncated_stacks_count",
                 "corrupt_records_count", "modules_lost_count"):
        if extension["counters"][name] != 0 and name not in allowed:
            wrong.append((name, f"{name} is {extension['counters'][name]}"))
    if not extension["run"]["complete"] and not book.excuses & EXCUSE_INCOMPLETE:
        wrong.append(("incomplete", f"incomplete: {extension['run']['incomplete_reason']}"))
    return [(kind, f"{book}: {text}") for kind, text in wrong]


def span(low, high):
    return str(low) if low == high else f"{low} … {high}"


def key_of(profile):
    """The process that a profile is of: its pid, and which of the attacker's images."""
    run = profile["heapprof"]["run"]
    command = run["command"]
    image = int(command[3]) if len(command) > 3 and command[1] == "image" else None
    return run["pid"], image


def compare(books, profiles, sites):
    wrong, by_key = [], {}
    for path in profiles:
        with open(path, encoding="utf-8") as file:
            profile = json.load(file)
        by_key.setdefault(key_of(profile), []).append((path, profile))
    compared = 0
    for book in books.processes:
        if not book.allocated():
            continue
        found = by_key.get((book.pid, book.index if book.is_image else None), [])
        # A process that becomes another image of its own has two profiles under one pid, but not under one key.
        if len(found) != 1:
            if not (not found and book.excuses & EXCUSE_PROFILE):
                wrong.append(("profile missing" if not found else "two profiles",
                              f"{book} has {len(found)} profiles"))
            continue
        compared += 1
        wrong += compare_process(book, found[0][1], sites)
    return wrong, compared


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as file:
        sites = file.read().split()
    wrong, compared = compare(Books(sys.argv[1], sites), sys.argv[3:], sites)
    for _, text in wrong:
        print(text)
    print(f"{compared} processes compared")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
