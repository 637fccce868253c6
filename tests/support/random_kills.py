#!/usr/bin/env python3
"""tests/support/random_kills.py: SIGKILL for every process of a tree, each at a moment that nobody chose.

usage: random_kills.py KILLS SEED [--threads N] [--processes N] [--full yes|no] [--on-full wait|drop]
env:   HEAPPROF_BIN TARGETS
Runs `workers` trees under heapprof until KILLS processes have been killed, the first of each tree last, and compares
every profile with what the threads counted themselves in shared memory (counters.py). With --full the collector stands
still meanwhile (SIGSTOP), so that the victims wait in a full ring. What is not fixed by a flag varies by the seed.
A failure keeps the folder and says how to repeat it; the last line has the numbers.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import counters

PATIENCE_S = 120


def wait_until(what, holds):
    """Polls until holds() is true. The time limit is for a test that hangs, not a measure."""
    end = time.monotonic() + PATIENCE_S
    while not (value := holds()):
        if time.monotonic() > end:
            raise RuntimeError(f"waited {PATIENCE_S} s for: {what}")
        time.sleep(0.0005)
    return value


def processes_of(path, threads):
    slots = counters.read_slots(path) if os.path.exists(path) else []
    return [slots[i:i + threads] for i in range(0, len(slots), threads)]


def events_of(path, threads, index):
    return sum(s.allocations + s.frees for s in processes_of(path, threads)[index])


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def stand_still(path, threads):
    """Until no thread of the tree counts any more: every ring is full."""
    last = None
    for _ in range(PATIENCE_S * 20):
        now = [(s.allocations, s.frees) for process in processes_of(path, threads) for s in process]
        if now == last:
            return
        last = now
        time.sleep(0.05)
    raise RuntimeError("the rings do not fill")


def one_tree(options, rng, folder):
    processes = options.processes or rng.choice([1, 1, 2, 3, 5])
    threads = options.threads or rng.choice([1, 2, 3, 8, 16])
    full = options.full == "yes" or (options.full is None and rng.random() < 0.25)
    path = os.path.join(folder, "counts")
    profile = os.path.join(folder, "profile.json")
    command = [os.environ["HEAPPROF_BIN"], "run", "-q", f"--on-full={options.on_full}", "-o", profile, "--",
               os.path.join(os.environ["TARGETS"], "workers"), path, str(processes), str(threads), "forever"]
    tool = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=folder)
    alive = []
    try:
        def everybody_works():
            found = processes_of(path, threads)
            return len(found) == processes and all(s.allocations > 0 for process in found for s in process)
        wait_until("every thread works", everybody_works)
        alive = [process[0].pid for process in processes_of(path, threads)]
        pids = list(alive)
        if full:
            os.kill(tool.pid, signal.SIGSTOP)
            if options.on_full == "wait":
                stand_still(path, threads)
        order = list(range(1, processes))
        rng.shuffle(order)
        for index in order + [0]:
            if not full:
                target = events_of(path, threads, index) + rng.randrange(20000)
                wait_until("events of the victim", lambda: events_of(path, threads, index) >= target)
            os.kill(pids[index], signal.SIGKILL)
            if not full:
                wait_until("the end of the victim", lambda: is_gone(pids[index]))
            alive.remove(pids[index])
        if full:
            os.kill(tool.pid, signal.SIGCONT)
        status = tool.wait(timeout=PATIENCE_S)
    except BaseException:
        for pid in alive + [tool.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        raise
    wrong, compared, events = counters.compare(path, threads, profile, 1)
    if status != 137:
        wrong.append(f"exit status {status}")
    else:
        with open(profile, encoding="utf-8") as file:
            run = json.load(file)["heapprof"]["run"]
        if (run["end"], run["status"]) != ("signaled", 9):
            wrong.append(f"the end is {run['end']} {run['status']}")
    return {"wrong": wrong, "kills": processes, "threads": compared, "events": events,
            "what": f"{processes} processes, {threads} threads each, full ring: {full}"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--full", choices=["yes", "no"])
    parser.add_argument("--on-full", default="wait", choices=["wait", "drop"])
    options = parser.parse_args()
    kills = trees = threads = events = 0
    while kills < options.kills:
        seed = options.seed + trees
        folder = tempfile.mkdtemp(prefix="heapprof-kills.")
        result = one_tree(options, random.Random(seed), folder)
        if result["wrong"]:
            print(f"seed {seed}: {result['what']}", *result["wrong"], f"kept: {folder}",
                  f"repeat: {sys.argv[0]} 1 {seed} {' '.join(sys.argv[3:])}", sep="\n")
            return 1
        shutil.rmtree(folder)
        trees += 1
        kills += result["kills"]
        threads += result["threads"]
        events += result["events"]
    print(f"{kills} kills of {trees} trees, {threads} threads, {events} events: none lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
