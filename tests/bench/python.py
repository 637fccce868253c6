#!/usr/bin/env python3
"""What the frames of Python, and operators of PyTorch, cost beside heapprof without them.

usage: tests/bench/python.py [--rounds N] [--python FILE] HEAPPROF

Events: a loop of bytearray(1000), which is one block of malloc's, at several depths of calls; in ns a pair of events,
beyond the plain loop's. Same: each event has the stack of the one before. Lines: every second one has another line.
Calls: each is made in a function of its own, two calls deep.
Programs: whole runs, by the clock and by the processor of the program and of heapprof.
Medians of interleaved rounds. Let nothing else run meanwhile.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import corpus

EVENTS = """
import sys, time
sys.setrecursionlimit(10000)
count = 100000
def same():
    for _ in range(count): bytearray(1000)
def lines():
    for _ in range(count // 2):
        bytearray(1000)
        bytearray(1000)
def inner(): return bytearray(1000)
def outer(): return inner()
def calls():
    for _ in range(count): outer()
def at(depth, work):
    return work() if depth <= 1 else at(depth - 1, work)
for work in (same, lines, calls):
    for depth in (1, 10, 30, 100):
        times = []
        for _ in range(5):
            start = time.perf_counter_ns()
            at(depth, work)
            times.append((time.perf_counter_ns() - start) / count)
        print(work.__name__, depth, min(times))
"""

TRAIN = """
import time, torch
torch.manual_seed(0)
torch.set_num_threads(1)
def timed(step, count):
    step()
    times = []
    for _ in range(5):
        start = time.perf_counter_ns()
        for _ in range(count): step()
        times.append((time.perf_counter_ns() - start) / count)
    return min(times)
x = torch.ones(8)
print("x + x, 8 numbers", timed(lambda: x + x, 20000))
def training(sizes, batch):
    layers = [layer for a, b in zip(sizes, sizes[1:]) for layer in (torch.nn.Linear(a, b), torch.nn.ReLU())]
    net, data = torch.nn.Sequential(*layers), torch.randn(batch, sizes[0])
    optimizer = torch.optim.Adam(net.parameters())
    def step():
        loss = net(data).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step
print("step of 3 small layers", timed(training([64, 64, 64, 10], 16), 100))
print("step of 6 layers of 256", timed(training([256] * 7, 64), 20))
"""


def run_lines(command, environment):
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True, text=True)
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()}


def run_times(command, environment):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, check=True)
    clock, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"clock": clock, "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def medians(measure, ways, command, rounds, environment=None):
    """By way and key; rounds of all ways, one after the other."""
    got = {}
    for _ in range(rounds):
        for way, front in ways.items():
            for key, value in measure(front + command, environment or {}).items():
                got.setdefault(way, {}).setdefault(key, []).append(value)
    return {way: {key: statistics.median(values) for key, values in keys.items()} for way, keys in got.items()}


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("heapprof")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        def script(name, text):
            path = f"{folder}/{name}.py"
            with open(path, "w") as out:
                out.write(text)
            return [options.python, path]

        record = [options.heapprof, "run", "-q", "-o", f"{folder}/profile.json"]
        ways = {"plain": [], "without": record + ["--no-python", "--"], "with": record + ["--"]}

        got = medians(run_lines, ways, script("events", EVENTS), options.rounds)
        rows = []
        for key in got["plain"]:
            work, depth = key.split()
            plain, without, with_frames = (got[way][key] for way in ways)
            rows.append([work, depth, f"{plain:.0f}", f"{without - plain:.0f}", f"{with_frames - plain:.0f}",
                         f"{(with_frames - without) / int(depth):.1f}"])
        table(["events", "depth", "plain, ns", "--no-python", "with frames", "more, a frame of Python"], rows)

        rows = []
        memray = subprocess.run([options.python, "-c", "import memray"], stderr=subprocess.DEVNULL).returncode == 0
        for name, environment in (("pymalloc", {}), ("PYTHONMALLOC=malloc", {"PYTHONMALLOC": "malloc"})):
            work = script("work", corpus.PYTHON_WORK)
            those = dict(ways)
            if memray:
                those["memray"] = [options.python, "-m", "memray", "run", "-f", "-q", "-o", f"{folder}/memray.bin"]
                those["memray --native"] = those["memray"] + ["--native"]
            got = medians(run_times, {way: front for way, front in those.items() if "memray" not in way}, work,
                          options.rounds, environment)
            if memray:
                got.update(medians(run_times, {way: front for way, front in those.items() if "memray" in way}, work[1:],
                                   options.rounds, environment))
            for way in got:
                rows.append([name, way, *(f"{got[way][key]:.2f} ({got[way][key] / got['without'][key]:.2f})"
                                          for key in ("clock", "processor"))])
        table(["program", "", "clock, s (beside --no-python)", "processor, s"], rows)

        if subprocess.run([options.python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0:
            ways["--torch-ops"] = record + ["--torch-ops", "--"]
            got = medians(run_lines, ways, script("train", TRAIN), options.rounds)
            table(["PyTorch", "plain, µs", "--no-python", "with frames", "--torch-ops"],
                  [[key, f"{got['plain'][key] / 1000:.2f}",
                    *(f"{got[way][key] / got['plain'][key]:.2f}×" for way in list(ways)[1:])] for key in got["plain"]])


if __name__ == "__main__":
    main()
