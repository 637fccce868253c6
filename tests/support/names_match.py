"""Compares symbolize_tool with llvm-symbolizer and addr2line on sampled call instructions of one ELF file.

usage: names_match.py TOOL LLVM_SYMBOLIZER FILE COUNT

llvm-symbolizer must give the same frames: function, file and line of every one. addr2line must give the same file and
line of the innermost frame, and the same frames where it finds as many. Prints one line of numbers; exit status 1 if
anything differs.
"""
import os
import random
import re
import subprocess
import sys

TOOL, LLVM, FILE, COUNT = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def output(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, errors="replace").stdout


def sampled_calls():
    listing = output(["objdump", "-d", "--no-show-raw-insn", "-j", ".text", FILE])
    calls = [int(m.group(1), 16) for m in re.finditer(r"^\s*([0-9a-f]+):\tcall", listing, re.M)]
    random.seed(20250520)
    return sorted(random.sample(calls, min(COUNT, len(calls))))


def ours(addresses, text):
    frames = {address: [] for address in addresses}
    for line in output([TOOL, FILE], text).splitlines():
        address, function, file, number, _ = line.split("\t")
        frames[int(address, 16)].append((function, file, int(number)))
    return frames


# The demanglers of LLVM and GNU differ in spaces and in their words for clones, so LLVM's raw names go through GNU's.
def llvm(addresses, text):
    raw = output([LLVM, "--inlines", "--no-demangle", "-e", FILE], text)
    blocks = output(["c++filt", "-i"], raw).strip("\n").split("\n\n")
    assert len(blocks) == len(addresses), (len(blocks), len(addresses))
    frames = {}
    for address, block in zip(addresses, blocks):
        lines = block.split("\n")
        frames[address] = []
        for function, place in zip(lines[::2], lines[1::2]):
            match = re.match(r"(.*):(\d+):(\d+)$", place)
            frames[address].append((function, match.group(1), int(match.group(2))))
    return frames


def addr2line(addresses, text):
    lines = output(["addr2line", "-a", "-i", "-f", "-C", "-e", FILE], text).splitlines()
    frames, current, i = {}, None, 0
    while i < len(lines):
        if re.fullmatch(r"0x[0-9a-f]+", lines[i]):
            current = frames.setdefault(int(lines[i], 16), [])
            i += 1
            continue
        match = re.match(r"(.*):(\d+|\?)$", re.sub(r" \(discriminator \d+\)$", "", lines[i + 1]))
        current.append((lines[i], match.group(1), 0 if match.group(2) == "?" else int(match.group(2))))
        i += 2
    return frames


def plain(frame):
    function, file, line = frame
    function = "" if function == "??" else function
    # Both take the outermost name from the symbol table, where the pieces and clones of a function have marks.
    function = re.sub(r" ?\[clone [^]]*\]", "", function)
    function = re.sub(r"(?<=.)(\.(cold|part|isra|constprop|lto_priv|localalias|llvm)\b[.\d]*)+$", "", function)
    # C's linkage names are labels of the linker's; glibc's inner ones are these.
    function = re.sub(r"^__GI_", "", function)
    # A relative compilation directory (Debian's glibc): llvm-symbolizer puts it in front twice.
    file = re.sub(r"^\./([^/]+)/\./\1/", r"\1/", file)
    # "??" without DWARF; llvm-symbolizer then names the object file of the symbol, without folder and line.
    file = "" if file == "??" or (line == 0 and "/" not in file) else os.path.normpath(file)
    return function, file, line


def same_function(a, b, symbols):
    # Ours has the namespaces in front of a bare name.
    if a == b or (b and a.endswith("::" + b)):
        return True
    # Several names of one function (aliases, identical code folded): both are right.
    return a in symbols and b in symbols and bool(symbols[a] & symbols[b])


def same_frames(a, b, symbols):
    return len(a) == len(b) and all(same_function(p[0], q[0], symbols) and p[1:] == q[1:] for p, q in zip(a, b))


# Places by function name, of the file and its debug file. Marks and versions are dropped.
def symbol_places():
    places = {}
    build_id = re.search(r"Build ID: ([0-9a-f]+)", output(["readelf", "-n", FILE]))
    debug = "/usr/lib/debug/.build-id/%s/%s.debug" % (build_id.group(1)[:2], build_id.group(1)[2:]) if build_id else ""
    for arguments in ([FILE], ["-D", FILE], [debug]):
        for line in output(["nm", "-C", *arguments]).splitlines():
            match = re.match(r"([0-9a-f]{16}) [tTwWiu] ([^@]*)", line)
            if match:
                places.setdefault(plain((match.group(2), "/", 1))[0], set()).add(match.group(1))
    return places


def main():
    addresses = sampled_calls()
    text = "".join("0x%x\n" % address for address in addresses)
    mine = {a: [plain(f) for f in frames] for a, frames in ours(addresses, text).items()}
    theirs = {a: [plain(f) for f in frames] for a, frames in llvm(addresses, text).items()}
    gnu = {a: [plain(f) for f in frames] for a, frames in addr2line(addresses, text).items()}
    symbols = symbol_places()
    # llvm-symbolizer looks up symbols in the file alone; addr2line also in the debug file, as we do.
    differ = [a for a in addresses if not same_frames(mine[a], theirs[a], symbols)
              and not (theirs[a] == [("", "", 0)] and same_frames(mine[a], gnu[a], symbols))]
    frames = sum(len(mine[a]) for a in addresses)
    # addr2line (binutils 2.40) loses inlined frames of functions with several ranges, and mixes up the function's names
    # and files there; it knows no .dwo of DWARF 5. What it says of the innermost line is its line table's, and
    # comparable.
    lines = [a for a in addresses if gnu[a] and gnu[a][0][2] and mine[a][0][2] != gnu[a][0][2]]
    print("%s: %d addresses, %d frames: %d differ from llvm-symbolizer, %d innermost lines from addr2line"
          % (FILE, len(addresses), frames, len(differ), len(lines)))
    for address in differ[:5]:
        print("  0x%x\n    ours %s\n    llvm %s" % (address, mine[address], theirs[address]))
    for address in lines[:5]:
        print("  0x%x\n    ours %s\n    addr2line %s" % (address, mine[address][0], gnu[address][0]))
    return 1 if differ or lines else 0


sys.exit(main())
