#!/usr/bin/env python3
"""tests/support/sites.py: what a profile says about some functions, for scripts.

usage: sites.py PROFILE sum REGEX      tb tbk eb ebk of all stacks with a frame whose text matches
       sites.py PROFILE leaf REGEX     the same, of stacks whose innermost named frame (allocators left out) matches
       sites.py PROFILE stacks REGEX   each such stack as "inner < outer < …", function names without arguments, sorted;
                                       what was inferred stands in brackets
       sites.py PROFILE frames REGEX   the texts of all such frames, without addresses, sorted
       sites.py PROFILE books FILE     for each line of FILE its first word, a function, and the sum of its stacks
       sites.py PROFILE depth REGEX    the largest number of frames of such a stack
"""
import json
import re
import sys

TEXT = re.compile(r"^0x[0-9A-Fa-f]+: (.*)$")
ALLOCATOR = re.compile(r"^(operator new|operator delete|_?_?(libc_)?(malloc|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|valloc)\b|"
                       r"std::|__gnu_cxx::|void\* std::|.* std::|.*__gnu_cxx::|alloc::|<?alloc::|__rust_alloc|__rustc|__rdl_alloc)")


def text_of(frame):
    match = TEXT.match(frame)
    return match.group(1) if match else frame


def short_name(text):
    name = re.sub(r" \((in [^()]*|[^()]*:\d+)\)$", "", text)
    return name.split("(")[0] if not name.startswith("(") else name


def main():
    path, command, pattern = sys.argv[1:4]
    profile = json.load(open(path, encoding="utf-8"))
    texts = [text_of(f) for f in profile["ftbl"]]
    if command == "books":
        for function in (line.split()[0] for line in open(pattern, encoding="utf-8")):
            frames = {i for i, text in enumerate(texts) if i > 0 and re.search(rf"\b{re.escape(function)}\b", text)}
            pps = [pp for pp in profile["pps"] if not frames.isdisjoint(pp["fs"])]
            print(function, *(sum(pp[n] for pp in pps) for n in ("tb", "tbk", "eb", "ebk")))
        return
    matches = [re.search(pattern, t) is not None and i > 0 for i, t in enumerate(texts)]
    chosen = []
    for pp in profile["pps"]:
        frames = pp["fs"]
        if command == "leaf":
            frames = [f for f in frames if not ALLOCATOR.match(texts[f])][:1]
        if any(matches[f] for f in frames):
            chosen.append(pp)
    if command in ("sum", "leaf"):
        print(*(sum(pp[n] for pp in chosen) for n in ("tb", "tbk", "eb", "ebk")))
    elif command == "stacks":
        inferred = {f + 1 for f in profile.get("heapprof", {}).get("frames", {}).get("inferred", [])}
        named = [f"[{short_name(t)}]" if i in inferred else short_name(t) for i, t in enumerate(texts)]
        print("\n".join(sorted(" < ".join(named[f] for f in pp["fs"]) for pp in chosen)))
    elif command == "frames":
        print("\n".join(sorted({texts[f] for pp in chosen for f in pp["fs"] if matches[f]})))
    elif command == "depth":
        print(max((len(pp["fs"]) for pp in chosen), default=0))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
