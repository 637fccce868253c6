#!/usr/bin/env python3
"""tests/support/programs.py: programs of the distribution end under heapprof as without it, with the same output.

usage: programs.py HEAPPROF [COUNT]   in an empty folder; what differs is printed, exit 1 if anything does
       programs.py work LIST FILE     runs each of LIST (JSON: arguments), writes what each did to FILE

COUNT programs are chosen from /usr/bin, evenly spaced by name, so that a machine's choice is always the same. Each is
asked for --version, a third of them for --help, a third once more as patchelf leaves them (--set-rpath), and some have
a job. What is not the same in two runs without heapprof is left out.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys

FOLDER = pathlib.Path("/usr/bin")
PATIENCE_S = 100
SHORT_PATIENCE_S = 15  # without heapprof: what runs on then is no program for this
MOST_TRIES = 12  # of what differs
MOST_BYTES = 32 << 20
MOST_PATCHED_BYTES = 2 << 20
RPATH = "/opt/" + "folder" * 40 + ":/usr/lib"
# They say what they did to a clock, a terminal or a random number, or do it whatever they are asked.
LEFT_OUT = {"reset", "tset", "clear", "startx", "setsid", "script", "systemd-run"}
JOBS = [
    ["sort", "-n", "in.txt"], ["gzip", "-kc", "in.txt"], ["xz", "-kc", "in.txt"], ["awk", "{ s += $1 } END { print s }", "in.txt"],
    ["sed", "s/1/one/g", "in.txt"], ["tar", "cf", "-", "--mtime=@0", "in.txt"], ["sha256sum", "in.txt"], ["factor", "123456789012345"],
    ["perl", "-e", "my %h = map { $_ => 1 } 1..1000; print scalar keys %h"], ["python3", "-c", "import json; print(len(json.dumps(list(range(1000)))))"],
    ["lua5.4", "-e", "local t = {} for i = 1, 1000 do t[i] = {} end print(#t)"], ["bash", "-c", "for i in 1 2 3; do echo $i | cat; done"],
    ["php", "-r", "echo count(array_fill(0, 1000, 'x'));"], ["node", "-e", "console.log([...Array(1000).keys()].length)"], ["npm", "--version"],
    ["npx", "--version"], ["git", "hash-object", "in.txt"], ["openssl", "dgst", "-sha256", "in.txt"], ["jq", "-n", "[range(100)] | add"],
    ["sqlite3", ":memory:", "select sum(value) from json_each('[1,2,3]')"], ["gcc", "-S", "-o", "-", "in.c"], ["objdump", "-h", "/bin/true"],
    ["nm", "-D", "/bin/true"], ["readelf", "-aW", "/bin/true"], ["c++filt", "_Znwm"], ["gdb", "-nx", "-batch", "-ex", "print 6*7"],
    ["make", "-f", "/dev/null", "-n", "in.txt"], ["ninja", "--version"], ["dot", "-Tplain", "in.dot"], ["bc", "-q", "in.bc"],
    ["find", "/usr/share/man/man1", "-maxdepth", "0"], ["xmllint", "--noout", "in.xml"], ["clang", "-S", "-o", "-", "in.c"], ["m4", "in.txt"]]
FILES = {
    "in.txt": "".join(f"{i * 7919 % 1000}\n" for i in range(1000)),
    "in.c": "int twice(int x) { return 2 * x; }\n",
    "in.dot": "digraph { a -> b; b -> c }\n",
    "in.bc": "2^100\nquit\n",
    "in.xml": "<a><b/></a>\n",
}


def is_candidate(path):
    """A program that the agent can be loaded into, of a moderate size."""
    try:
        facts = path.lstat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_mode & 0o6000 or facts.st_size > MOST_BYTES:
            return False
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    if head[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", head, 18)[0] != 62:
        return False
    return b"ld-linux-x86-64.so.2\0" in head and path.name not in LEFT_OUT


def choose(count):
    candidates = sorted(path for path in FOLDER.iterdir() if is_candidate(path))
    if len(candidates) <= count:
        return candidates
    return [candidates[i * len(candidates) // count] for i in range(count)]


def patched(paths):
    """Copies of a third of them, with a longer run path."""
    if shutil.which("patchelf") is None:
        print("NOT TRIED: no patchelf", file=sys.stderr)
        return []
    pathlib.Path("patched").mkdir()
    copies = []
    for path in paths[::3]:
        if path.stat().st_size > MOST_PATCHED_BYTES:
            continue
        copy = pathlib.Path("patched") / path.name
        shutil.copy(path, copy)
        if subprocess.run(["patchelf", "--set-rpath", RPATH, copy], capture_output=True).returncode == 0:
            copies.append(copy)
    return copies


def run_one(arguments, environment=None, patience_s=PATIENCE_S):
    try:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=patience_s,
                              env=environment)
        return [done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")]
    except subprocess.TimeoutExpired:
        return ["still running", "", ""]
    except OSError as error:
        return [str(error), "", ""]


def work(runs, target):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        did = list(pool.map(run_one, runs))
    pathlib.Path(target).write_text(json.dumps(did))


def varies_to(run, environment, profiled):
    """Whether the program says that without us, too, now and then; its children's lines may come in another order."""
    def normal(did):
        return [did[0]] + [sorted(text.splitlines()) for text in did[1:]]
    return any(normal(run_one(run, environment)) == normal(profiled) for _ in range(MOST_TRIES))


def compare(heapprof, count):
    for name, text in FILES.items():
        pathlib.Path(name).write_text(text)
    chosen = choose(count)
    runs = [[str(path), "--version"] for path in chosen] + [[str(path), "--help"] for path in chosen[1::3]]
    runs += [[str(copy), "--version"] for copy in patched(chosen)]
    runs += [job for job in JOBS if shutil.which(job[0])]
    environment = dict(os.environ, LC_ALL="C", HOME=os.getcwd(), TERM="dumb")
    all_runs = len(runs)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = list(pool.map(lambda run: run_one(run, environment, SHORT_PATIENCE_S)[0] != "still running", runs))
    for run, does_end in zip(runs, ends):
        if not does_end:
            print("left out, as it runs on:", " ".join(run))
    runs = [run for run, does_end in zip(runs, ends) if does_end]
    pathlib.Path("runs.json").write_text(json.dumps(runs))
    worker = [sys.executable, __file__, "work", "runs.json"]
    did = []
    with_us = [heapprof, "run", "-q", "--all-processes", "-o", "p/p.json", "--"]
    for target, before in (("plain.json", []), ("again.json", []), ("with.json", with_us)):
        pathlib.Path("p").mkdir(exist_ok=True)
        subprocess.run(before + worker + [target], env=environment, check=True)
        did.append(json.loads(pathlib.Path(target).read_text()))
    bad, left_out = 0, all_runs - len(runs)
    for run, plain, again, profiled in zip(runs, *did):
        if plain != again or (profiled != plain and varies_to(run, environment, profiled)):
            left_out += 1
        elif profiled != plain:
            bad += 1
            print("differs:", " ".join(run))
            for what, one, other in zip(("status", "stdout", "stderr"), plain, profiled):
                if one != other:
                    print(f"  {what}: without {str(one)[-300:]!r}, with {str(other)[-300:]!r}")
    profiles = len(list(pathlib.Path("p").iterdir()))
    print(f"{len(chosen)} programs, {all_runs} runs, {left_out} left out, {bad} differ, {profiles} profiles")
    return 1 if bad or profiles < len(runs) // 2 or left_out > all_runs // 10 else 0


if len(sys.argv) == 4 and sys.argv[1] == "work":
    work(json.loads(pathlib.Path(sys.argv[2]).read_text()), sys.argv[3])
elif len(sys.argv) in (2, 3):
    sys.exit(compare(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 300))
else:
    sys.exit(__doc__)
