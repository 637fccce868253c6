#!/usr/bin/env python3
"""tests/support/compare_oracle.py: is a profile of the oracle what the oracle's books say, to the byte?

usage: compare_oracle.py BOOKS PROFILE [--rest PROFILE] [--valgrind] [--quiet]
  --rest      a profile of the same run with 0 operations: what is allocated besides the tested work must be equal in
              both
  --valgrind  PROFILE is Valgrind's, of an oracle with flag v (its mb is not the maximum, its pps have no temporary
              blocks)
Prints a table, and every stack that differs; exit status 1 if anything does.
"""
import argparse
import json
import re
import sys

FRAME = re.compile(r"^0x[0-9A-Fa-f]+: (.*?)(?: \((?:in )?[^()]*\))?$")
INNER = re.compile(r"^(operator new(\[\])?\(|operator new|malloc$|calloc$|realloc$|reallocarray$|aligned_alloc$|memalign$|posix_memalign$|valloc$|"
                   r"pvalloc$|__cxa_allocate_exception$|_Zn)")
THROWS = re.compile(r"^0x[0-9A-Fa-f]+: \?\?\? \(in .*libstdc\+\+")  # its cold half of operator new has no symbol
INLINED = re.compile(r"(^|::)(take_hop|call_leaf)\b")
FIELDS = ["tb", "tbk", "eb", "ebk", "gb", "gbk", "mb", "mbk"]


def frame_name(text):
    match = FRAME.match(text)
    return match.group(1) if match else text


def key_of(frames):
    """The oracle's key of a stack, None if it is not the tested work, ValueError if it should be and reads wrong."""
    names = ["operator new" if THROWS.match(f) else frame_name(f).removeprefix("oracle::") for f in frames]
    names = [n for n in names if not INLINED.search(n)]
    if not any(n.startswith("site_") for n in names):
        return None
    while names and INNER.match(names[0]):
        names.pop(0)
    parts, descents = [], 0
    for position, name in enumerate(names):
        if name.startswith("allocate_on_stack"):
            break
        name = name.split("(")[0]
        if name == "descend":
            descents += 1
        elif name.startswith(("do_", "site_", "hop_")[min(position, 2)]):
            if descents:
                raise ValueError("hop inside of descend")
            parts.append(name)
        else:
            raise ValueError(f"frame {position} is '{name}'")
    else:
        raise ValueError("allocate_on_stack is not in the stack")
    outer = " ".join(names)
    if "Worker::" not in outer or not ("main" in outer or "start_thread" in outer or "clone" in outer):
        raise ValueError("the outer frames are not there")
    if descents:
        parts.append(f"descend*{descents}")
    return " ".join(parts)


def numbers_by_key(profile, wrong):
    keys, rest = {}, dict.fromkeys(FIELDS, 0)
    sites = profile.get("heapprof", {}).get("devices", [{}])[0].get("sites", {})
    temporary = sites.get("temporary_count")
    sized = dict(zip(sites.get("sized", []), zip(sites.get("smallest_bytes", []), sites.get("largest_bytes", []))))
    for index, pp in enumerate(profile["pps"]):
        frames = [profile["ftbl"][i] for i in pp["fs"]]
        try:
            key = key_of(frames)
        except ValueError as error:
            wrong.append(f"stack is not as the oracle made it ({error}):\n    " + "\n    ".join(frames[:8]))
            continue
        if key is None:
            for field in FIELDS:
                rest[field] += pp[field]
            continue
        sums = keys.setdefault(key, dict.fromkeys(FIELDS, 0) | {"pps": 0, "temporary": None})
        sums["pps"] += 1
        if "sized" in sites:
            smallest, largest = sized.get(index, (pp["tb"] // pp["tbk"],) * 2)
            sums["smallest"] = min(sums.get("smallest", smallest), smallest)
            sums["largest"] = max(sums.get("largest", largest), largest)
        for field in FIELDS:
            sums[field] += pp[field]
        if temporary is not None:
            sums["temporary"] = (sums["temporary"] or 0) + temporary[index]
    return keys, rest


def compare_keys(books, keys, valgrind, wrong, table):
    compared = 0
    for key in sorted(set(books["keys"]) | set(keys)):
        want, got = books["keys"].get(key), keys.get(key)
        if want is None or got is None:
            wrong.append(f"{key}: {'not in the books' if want is None else 'not in the profile'}")
            continue
        fields = ["tb", "tbk", "eb", "ebk"]
        if "gb" in want:
            fields += ["gb", "gbk"]
        if not valgrind:
            fields += ["smallest", "largest"]
        if "mb" in want and not valgrind and got["pps"] == 1:
            fields += ["mb", "mbk"]
        for field in fields:
            compared += 1
            if got[field] != want[field]:
                wrong.append(f"{key}: {field} is {got[field]}, the books say {want[field]}")
        if got["temporary"] is not None and not valgrind:
            compared += 1
            low = want["temporary"]
            high = low + want["temporary_unknown"]
            if not low <= got["temporary"] <= high:
                wrong.append(f"{key}: {got['temporary']} temporary blocks, the books say {low} … {high}")
    table.append(("stacks", len(keys), len(books["keys"])))
    table.append(("numbers compared", compared, ""))


def compare_sums(books, profile, keys, rest, valgrind, wrong, table):
    def check(name, got, low, high=None):
        high = low if high is None else high
        table.append((name, got, low if low == high else f"{low} … {high}"))
        if not low <= got <= high:
            wrong.append(f"{name} is {got}, the books say {low}" + ("" if low == high else f" … {high}"))

    total = {f: sum(k[f] for k in keys.values()) for f in FIELDS}
    check("total bytes", total["tb"], books["total_bytes"])
    check("total blocks", total["tbk"], books["total_blocks"])
    check("live bytes", total["eb"], books["live_bytes"])
    check("live blocks", total["ebk"], books["live_blocks"])
    peak = books["peak"]
    check("peak bytes" + ("" if peak["exact"] else " (bounds)"), total["gb"], peak["bytes_low"], peak["bytes_high"])
    if peak["exact"]:
        check("blocks at the peak", total["gbk"], peak["blocks_at_peak"])
    if not valgrind:
        check_extension(profile["heapprof"], books, rest, check)


def check_extension(extension, books, rest, check):
    totals = extension["devices"][0]["totals"]
    peak = books["peak"]
    # What is there besides is live from before the work until after it.
    check("host total_bytes", totals["total_bytes"], books["total_bytes"] + rest["tb"])
    check("host total_count", totals["total_count"], books["total_blocks"] + rest["tbk"])
    check("host leaked_bytes", totals["leaked_bytes"], books["live_bytes"] + rest["eb"])
    check("host peak_bytes", totals["peak_bytes"], peak["bytes_low"] + rest["gb"], peak["bytes_high"] + rest["gb"])
    check("host max_count", totals["max_count"], peak["max_blocks_low"] + rest["gbk"],
          peak["max_blocks_high"] + rest["gbk"])
    counters = extension["counters"]
    check("allocations", counters["allocations_count"], books["total_blocks"] + rest["tbk"])
    check("frees", counters["frees_count"], books["frees"] + books["reallocs_to_nothing"] + rest["tbk"] - rest["ebk"])
    check("reallocs", counters["reallocs_count"], books["reallocs"])
    check("failed reallocs", counters["failed_reallocs_count"], books["failed_reallocs"])
    for name in ("lost_count", "foreign_frees_count", "unseen_frees_count", "abandoned_count", "truncated_stacks_count",
                 "corrupt_records_count", "modules_lost_count", "verify_mismatched_count"):
        check(name, counters[name], 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("books")
    parser.add_argument("profile")
    parser.add_argument("--rest")
    parser.add_argument("--valgrind", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    books = json.load(open(options.books, encoding="utf-8"))
    profile = json.load(open(options.profile, encoding="utf-8"))
    wrong, table = [], []
    keys, rest = numbers_by_key(profile, wrong)
    compare_keys(books, keys, options.valgrind, wrong, table)
    compare_sums(books, profile, keys, rest, options.valgrind, wrong, table)
    if options.rest:
        empty_keys, empty_rest = numbers_by_key(json.load(open(options.rest, encoding="utf-8")), wrong)
        if empty_keys:
            wrong.append("the run without work has tested stacks")
        for field in ("tb", "tbk"):
            table.append((f"besides {field}", rest[field], empty_rest[field]))
            if rest[field] != empty_rest[field]:
                wrong.append(f"besides the work: {field} is {rest[field]}, without work {empty_rest[field]}")
    head = f"oracle: seed {books['seed']}, {books['threads']} threads, {books['operations']} operations, {books['mode']}"
    if not options.quiet or wrong:
        print(head)
        for name, got, want in table:
            print(f"  {name:24} {got!s:>22} {want!s:>30}")
    for line in wrong[:20]:
        print("WRONG", line)
    if len(wrong) > 20:
        print(f"WRONG … and {len(wrong) - 20} more")
    if options.quiet and not wrong:
        print(f"{head}: equal ({books['total_blocks']} blocks, {len(keys)} stacks)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
