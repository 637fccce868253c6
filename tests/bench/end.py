#!/usr/bin/env python3
"""What the end of a run costs: from the program's last event to the exit of heapprof, for several heapprofs in turn.

usage: tests/bench/end.py --rounds N HEAPPROF… -- PROGRAM ARGUMENT…     for one program
       tests/bench/end.py --functions N     prints a program of N functions that takes a number of walks

In ms, the least of the rounds and, in brackets, the median:
  end         of the processor, in heapprof's main thread, without what it had used when the program's numbers were
              complete (the profile says that)
  counting, naming, putting together
              by the clock, as the profile has them; naming in a process of its own
  first line  by the clock, from the program's end to the first byte of the summary
  saved       likewise, to the last byte of the profile
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time


def write_program(functions: int) -> None:
    """Functions call one another at random; each path allocates at its end, and now and then on its way."""
    random.seed(5)
    print("#include <cstdlib>\n#include <cstdint>\nvoid* volatile kept;\nstatic uint64_t state = 1;")
    print("static inline unsigned next() {"
          " return state = state * 6364136223846793005ull + 1442695040888963407ull, state >> 33; }")
    print(f"using Function = void (*)(int);\nextern Function all[{functions}];")
    for i in range(functions):
        first, second = random.randrange(functions), random.randrange(functions)
        print(f"__attribute__((noinline)) void fn_{i}(int depth) {{ const unsigned r = next();"
              f" if (depth <= 0 || r % 16 < 3)"
              f" {{ void* block = malloc({16 + i % 700}); kept = block; if (next() % 3) free(block); }}"
              f" if (depth > 0) all[r % 4 < 3 ? {first} : {second}](depth - 1);"
              f" if (depth > 0 && r % 64 == 7) all[r % {functions}](depth - 1); kept = nullptr; }}")
    print(f"Function all[{functions}] = {{{','.join(f'fn_{i}' for i in range(functions))}}};")
    print("int main(int, char** argv) { for (int i = atoi(argv[1]); i > 0; --i)"
          f" all[next() % {functions}](8 + next() % 18); }}")


def run_once(tool: str, program: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        command = [tool, "run", "-o", path, "--", *program]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # What the program itself writes there comes before its end, and not within the moment that is taken here.
        first_lines_s = []
        while os.read(process.stderr.fileno(), 1 << 16):
            first_lines_s.append(time.time())
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with open(f"/proc/{process.pid}/schedstat", encoding="ascii") as file:
            own_ns = int(file.read().split()[0])
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        with open(path, encoding="utf-8") as file:
            profile = json.load(file)["heapprof"]
        cost, run = profile["cost"], profile["run"]
        ended_s = (run["start_unix_ns"] + run["duration_ns"]) / 1e9
        first_line_s = min((at for at in first_lines_s if at >= ended_s), default=float("nan"))
        saved_s = os.stat(path).st_mtime
    return {"end": (own_ns - cost["collector_cpu_ns"]) / 1e6, "counting": cost["count_ns"] / 1e6,
            "naming": cost["symbolize_ns"] / 1e6, "putting together": cost["assemble_ns"] / 1e6,
            "first line": (first_line_s - ended_s) * 1e3, "saved": (saved_s - ended_s) * 1e3,
            "most resident, MiB": usage.ru_maxrss / 1024}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--functions", type=int)
    parser.add_argument("tools", nargs="*")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:split])
    if options.functions:
        write_program(options.functions)
        return
    results: dict[str, list[dict[str, float]]] = {tool: [] for tool in options.tools}
    for _ in range(options.rounds):
        for tool in options.tools:
            results[tool].append(run_once(tool, words[split + 1:]))
    for tool, rounds in results.items():
        columns = {key: [values[key] for values in rounds] for key in rounds[0]}
        text = "   ".join(f"{key} {min(one):.0f} ({statistics.median(one):.0f})" for key, one in columns.items())
        print(f"{tool}: {text}")


if __name__ == "__main__":
    main()
