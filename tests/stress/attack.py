#!/usr/bin/env python3
"""tests/stress/attack.py: the attacker (tests/targets/attack) at many seeds, natively and under heapprof.

usage: attack.py [--seconds N | --count N] [--seed S] [--jobs J] [--steps N] [--repeat N] [--native]
                 [--without ACTION,…] [--without-known] [--only ACTION,…]
                 [--no-shrink] [--shrink-seconds N] [--keep FOLDER] [FILE.steps …]
env:   HEAPPROF_BIN TARGETS BUILD (defaults: build/release of this tree)

Each seed is a list of steps. It is run natively, then under heapprof: the exit status and what each step came to must
be the same, and each process's profile must be what its own books say (tests/support/attack_books.py). A seed that
fails is shrunk: steps are left out while it still fails in the same way. What is left is printed and, with --keep,
saved as FOLDER/seed-N.steps. Such files can be given instead of seeds; those in tests/stress/attack/ are run by CI.

  --without   leave actions out, where a known fault would hide all others; `attack actions` lists them
  --without-known  those that tests/stress/attack/known_faults lists, as CI does
  --only      nothing but these (and an end)
  --repeat    run each case so many times; it fails if one of them does
  --native    natively alone: is the attacker itself right?
Lines of a .steps file that begin with "# program:" (attack, attack_own) and "# repeat:" say how it is run.
"""
import argparse
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import attack_books  # noqa: E402

BUILD = os.environ.get("BUILD", os.path.join(SOURCE, "build/release"))
TARGETS = os.environ.get("TARGETS", os.path.join(BUILD, "tests/targets"))
HEAPPROF = os.environ.get("HEAPPROF_BIN", os.path.join(BUILD, "bin/heapprof"))
PATIENCE_S = 60
NEVER = attack_books.NOT_REACHED


class Case:
    def __init__(self, program, steps, name, repeat=1):
        self.program, self.steps, self.name, self.repeat = program, steps, name, repeat

    def text(self):
        return f"# program: {self.program}\n# repeat: {self.repeat}\n" + "".join(step + "\n" for step in self.steps)


class Attacker:
    """What is known of the programs."""

    def __init__(self, options):
        self.options = options
        self.sites = self.say("attack", "sites").split()
        self.actions = [line.split()[0] for line in self.say("attack", "actions").splitlines()]
        without = set(filter(None, options.without.split(",")))
        if options.without_known:
            with open(os.path.join(HERE, "attack", "known_faults"), encoding="utf-8") as file:
                without |= {line.split()[0] for line in file if line.strip() and not line.startswith("#")}
        if options.only:
            only = set(options.only.split(","))
            without |= {a for a in self.actions if a not in only and not a.startswith("end_")}
        for action in without | set(filter(None, options.only.split(","))):
            if action not in self.actions:
                sys.exit(f"attack.py: there is no action '{action}'")
        self.without = ",".join(sorted(without))

    @staticmethod
    def say(program, *arguments):
        return subprocess.run([os.path.join(TARGETS, program), *arguments], check=True, capture_output=True, text=True,
                              timeout=PATIENCE_S).stdout

    def from_seed(self, seed):
        program = "attack_own" if seed % 2 else "attack"
        steps = self.say(program, "generate", str(seed), str(self.options.steps), self.without).splitlines()
        return Case(program, steps, f"seed {seed}", self.options.repeat)


def from_file(path):
    case = Case("attack", [], os.path.basename(path))
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            key = re.match(r"# (program|repeat): (\S+)$", line)
            if key:
                setattr(case, key.group(1), int(key.group(2)) if key.group(1) == "repeat" else key.group(2))
            elif line and not line.startswith("#"):
                case.steps.append(line)
    return case


def run(command, folder, output):
    """Its exit status as a shell's, or "hangs"."""
    with open(output, "wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder,
                                   start_new_session=True)
        try:
            status = process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            status = "hangs"
        try:
            os.killpg(process.pid, signal.SIGKILL)  # and whatever it has left
        except ProcessLookupError:
            pass
        process.wait()
    return 128 - status if isinstance(status, int) and status < 0 else status


def result_text(value):
    return {attack_books.NOT_REACHED: "not reached", attack_books.BEGUN: "not finished"}.get(value, str(value))


def run_native(attacker, case, folder):
    books = os.path.join(folder, "native.books")
    command = [program_of(case), "run", os.path.join(folder, "steps"), books]
    status = run(command, folder, os.path.join(folder, "native.out"))
    return status, attack_books.Books(books, attacker.sites).results if os.path.exists(books) else []


def program_of(case):
    return os.path.join(TARGETS, case.program)


def native_faults(case, status, results):
    """What the attacker itself did wrong: every step that is not an end must have come to its result."""
    wrong = []
    if status not in (37, 40, 41, 42, 43, 134, 137):
        wrong.append(("native", f"natively it ends with {status}"))
    for step, value in zip(case.steps, results):
        action = step.split()[1]
        if value < 0 and not action.startswith("end_") and not (action in OWN_ONLY and value == NEVER):
            wrong.append(("native", f"natively '{step}' came to {result_text(value)}"))
    return wrong


OWN_ONLY = {"jumps_anywhere", "fork_in_handler_return", "weather"}


def run_once(attacker, case):
    """(kind, text) of what is not as it should be; how many processes were compared."""
    return run_case(attacker, Case(case.program, case.steps, case.name))


def run_case(attacker, case):
    """The same for all its runs: natively once, then under heapprof until one is not as it should be."""
    folder = tempfile.mkdtemp(prefix="heapprof-attack.")
    try:
        with open(os.path.join(folder, "steps"), "w", encoding="utf-8") as file:
            file.write(case.text())
        native = run_native(attacker, case, folder)
        if native[0] == "hangs":  # glibc's own: a fork that another thread's dlopen has met
            print(f"{case.name}: hangs natively, and is left out", flush=True)
            return [], 0
        wrong, compared = native_faults(case, *native), 0
        for number in range(0 if attacker.options.native else case.repeat):
            if wrong:
                break
            wrong, processes = run_profiled(attacker, case, folder, str(number), native)
            compared += processes
        return wrong, compared
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_profiled(attacker, case, folder, name, native):
    """One run under heapprof, in a folder of its own below `folder`, beside what it came to natively."""
    native_status, native_results = native
    steps, folder = os.path.join(folder, "steps"), os.path.join(folder, name)
    os.mkdir(folder)
    try:
        wrong = []
        books_path, profile = os.path.join(folder, "books"), os.path.join(folder, "profile.json")
        command = [HEAPPROF, "run", "-q", "--all-sites", "--all-processes", "-o", profile, "--",
                   program_of(case), "run", steps, books_path]
        status = run(command, folder, os.path.join(folder, "out"))
        if status != native_status:
            wrong.append((f"status {status}", f"exit status {status}, natively {native_status}"))
        if not os.path.exists(books_path):
            return wrong + [("books", "there are no books")], 0
        books = attack_books.Books(books_path, attacker.sites)
        for step, value, native in zip(case.steps, books.results, native_results):
            if value != native:
                wrong.append((f"result of {step.split()[1]}",
                              f"'{step}' came to {result_text(value)}, natively {result_text(native)}"))
        profiles = glob.glob(os.path.join(folder, "profile*.json"))
        differences, compared = attack_books.compare(books, profiles, attacker.sites)
        wrong += differences
        with open(os.path.join(folder, "out"), encoding="utf-8", errors="replace") as file:
            said = file.read()
        if wrong and said:
            wrong.append(("said", f"it said: {said[:400]}"))
        return wrong, compared
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- shrinking ----

def kinds_of(wrong):
    return {kind for kind, _ in wrong if kind != "said"}


class Shrinker:
    def __init__(self, attacker, case, kinds, seconds):
        self.attacker, self.case, self.kinds = attacker, case, kinds
        self.end = time.monotonic() + seconds
        self.repeats = 1
        self.runs = 0

    def fails(self, steps, repeats=None):
        """Whether these steps fail, in one of some runs, in a way that the whole list did."""
        for _ in range(repeats or self.repeats):
            if time.monotonic() > self.end:
                return False
            self.runs += 1
            wrong, _ = run_once(self.attacker, Case(self.case.program, steps, self.case.name))
            if kinds_of(wrong) & self.kinds:
                return True
        return False

    def frequency(self, steps, runs):
        failed = 0
        for _ in range(runs):
            wrong, _ = run_once(self.attacker, Case(self.case.program, steps, self.case.name))
            failed += bool(kinds_of(wrong) & self.kinds)
        return failed

    def shrink(self):
        steps = self.case.steps
        failed = self.frequency(steps, 6)
        if failed == 0:
            return steps, f"{failed} of 6 more runs of all steps failed: too rare to shrink"
        # So many runs that a list which still fails is missed in one case of some twenty.
        self.repeats = {6: 1, 5: 2, 4: 3, 3: 5, 2: 8, 1: 16}[failed]
        pieces = 2
        while len(steps) > 1 and time.monotonic() < self.end:
            size = max(1, len(steps) // pieces)
            for start in range(0, len(steps), size):
                fewer = steps[:start] + steps[start + size:]
                if fewer and self.fails(fewer):
                    steps, pieces = fewer, max(pieces - 1, 2)
                    break
            else:
                if size == 1:
                    break
                pieces = min(len(steps), pieces * 2)
        steps = self.simplify(steps)
        last = self.frequency(steps, 10)
        return steps, f"{last} of 10 runs fail"

    def simplify(self, steps):
        """One thread where one is enough; smaller amounts."""
        on_one = [re.sub(r"^\d+ ", "0 ", step) for step in steps]
        if on_one != steps and self.fails(on_one):
            steps = on_one
        for i, step in enumerate(steps):
            thread, action, amount, seed = step.split()
            while int(amount) > 1:
                amount = str(int(amount) // 2)
                fewer = steps[:i] + [f"{thread} {action} {amount} {seed}"] + steps[i + 1:]
                if not self.fails(fewer):
                    break
                steps = fewer
        return steps


def report(attacker, case, wrong, lock):
    lines = [f"FAIL {case.name} ({case.program}, {len(case.steps)} steps): {', '.join(sorted(kinds_of(wrong)))}"]
    lines += [f"    {text}" for _, text in wrong[:8]] + ([f"    … and {len(wrong) - 8} more"] if len(wrong) > 8 else [])
    options = attacker.options
    if not options.no_shrink and "native" not in kinds_of(wrong):
        shrinker = Shrinker(attacker, case, kinds_of(wrong), options.shrink_seconds)
        steps, how_often = shrinker.shrink()
        lines.append(f"  shrunk to {len(steps)} of {len(case.steps)} steps in {shrinker.runs} runs; {how_often}:")
        lines += [f"    {step}" for step in steps]
        case = Case(case.program, steps, case.name, shrinker.repeats)
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        path = os.path.join(options.keep, re.sub(r"[^A-Za-z0-9_.]+", "-", case.name) + ".steps")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(f"# {text}\n" for text in lines[:4]) + case.text())
        lines.append(f"  saved: {path}")
    with lock:
        print("\n".join(lines), flush=True)


def cases_of(options, attacker):
    if options.files:
        for path in options.files:
            yield from_file(path)
        return
    end = time.monotonic() + options.seconds if options.seconds else None
    seed = options.seed
    while (time.monotonic() < end) if end else (seed < options.seed + options.count):
        yield attacker.from_seed(seed)
        seed += 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--without", default="")
    parser.add_argument("--without-known", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--shrink-seconds", type=int, default=120)
    parser.add_argument("--keep")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    attacker = Attacker(options)
    cases, lock = cases_of(options, attacker), threading.Lock()
    totals = {"cases": 0, "failed": 0, "processes": 0, "steps": 0}

    def work():
        try:
            work_on()
        except BaseException:
            totals["failed"] += 1  # what went wrong is printed by threading
            raise

    def work_on():
        while True:
            with lock:
                case = next(cases, None)
            if case is None:
                return
            wrong, compared = run_case(attacker, case)
            with lock:
                totals["cases"] += 1
                totals["steps"] += len(case.steps)
                totals["processes"] += compared
                totals["failed"] += bool(wrong)
            if wrong:
                report(attacker, case, wrong, lock)

    start = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"attack: {totals['cases']} cases from seed {options.seed}, {totals['steps']} steps, {totals['processes']} "
          f"processes compared, {time.monotonic() - start:.0f} s: {totals['failed']} failed")
    return 1 if totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
