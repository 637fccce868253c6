# tests/bench/bench.py: the corpus unprofiled, under heapprof and under heaptrack, side by side (scripts/bench runs it).
#
# In each round every case runs once in each mode, in an order that turns with the round, so that a machine that grows
# slower is fair to all. Ratios are those of medians. "wall" is the time until the program has ended; "whole" the time
# until the command has, with the profile written. Results go to a dated Markdown file and a JSON file with every single
# measurement.
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time
from statistics import geometric_mean, median

import corpus
import measure

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The others are benchmarks: they allocate, and do little else.
REAL_PROGRAMS = ("sqlite3", "cc1plus", "python3", "python3 malloc", "redis-server", "git log -p", "gdb", "node", "xmllint",
                 "jq", "documents", "clang", "torch")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench",
                                     description="Measures heapprof on real programs, against none and against heaptrack.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N",
                        help="how often each case runs in each mode (default 5)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="only cases whose name holds NAME; may be repeated")
    parser.add_argument("--no-heaptrack", action="store_true", help="do not compare with heaptrack")
    parser.add_argument("--heapprof", default=str(ROOT / "build/release/bin/heapprof"), type=os.path.abspath,
                        metavar="FILE", help="the tool to measure")
    parser.add_argument("--work", default=str(ROOT / "build/bench"), metavar="FOLDER",
                        help="where inputs are generated and kept")
    parser.add_argument("--output", default=str(HERE / "runs"), metavar="FOLDER",
                        help="where the results go (default tests/bench/runs)")
    parser.add_argument("--flag", action="append", default=[], metavar="FLAG",
                        help="an extra flag for heapprof run; may be repeated (--flag=--x)")
    parser.add_argument("--list", action="store_true", help="name the cases and end")
    return parser.parse_args()


def command_line(case: corpus.Case, mode: str, options: argparse.Namespace, profile: pathlib.Path) -> list[str]:
    if mode == "heapprof":
        return [options.heapprof, "run", "-q", *options.flag, "-o", f"{profile}.json", "--", *case.command]
    if mode == "heaptrack":
        return [shutil.which("heaptrack"), "-o", str(profile), *case.command]
    return case.command


def figure(case: corpus.Case, result: measure.Measurement) -> float:
    """What the case is about: its own figure if it prints one, else wall time."""
    if not case.measure:
        return result.wall_s
    lines = [line for line in result.stdout.splitlines() if re.fullmatch(r"[0-9]+\.[0-9]+", line)]
    return case.measure(lines[-1])


def events_of(profile: pathlib.Path) -> int:
    """Blocks allocated, by the profile."""
    with open(f"{profile}.json", encoding="utf-8") as file:
        return sum(point["tbk"] for point in json.load(file)["pps"])


def run_case(case: corpus.Case, options: argparse.Namespace, modes: list[str]) -> dict:
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("LD_PRELOAD", "DEBUGINFOD_URLS", "HEAPPROF")}
    environment.update({"LC_ALL": "C"}, **case.environment)
    samples = {mode: [] for mode in modes}
    failed = {}
    blocks = 0
    for round_number in range(options.rounds):
        turned = modes[round_number % len(modes):] + modes[: round_number % len(modes)]
        for mode in turned:
            if mode in failed:
                continue
            folder = pathlib.Path(options.work) / "profiles"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            profile = folder / mode
            try:
                result = measure.run(command_line(case, mode, options, profile), case.executable, environment,
                                     options.work, case.driver)
                sample = dataclasses.asdict(result)
                sample["figure"] = figure(case, result)
                sample["profile_bytes"] = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
                if mode == "heapprof":
                    blocks = events_of(profile)
            except (RuntimeError, TimeoutError, OSError, IndexError, ValueError, KeyError) as error:
                failed[mode] = str(error)
                print(f"  {case.name}: {mode}: {error}", file=sys.stderr)
                continue
            sample.pop("stdout")
            samples[mode].append(sample)
    return {"name": case.name, "unit": case.unit, "has_own_figure": case.measure is not None, "blocks": blocks,
            "failed": failed, "samples": samples}


def medians(row: dict, mode: str) -> dict:
    samples = row["samples"].get(mode, [])
    return {key: median(sample[key] for sample in samples) for key in samples[0]} if samples else {}


def ratio(value: float, base: float) -> str:
    return f"{value / base:.2f}" if base > 0 else "-"


def mebibytes(count: float) -> str:
    return f"{count / 1048576:.1f}"


def signed_mebibytes(kib: float) -> str:
    return f"{kib / 1024:+.1f}"


def table(rows: list[dict], modes: list[str]) -> list[str]:
    profilers = [mode for mode in modes if mode != "plain"]
    head = ["program", "blocks", "plain"] + [f"{title} {mode}" for mode in profilers for title in
                                             ("wall", "whole", "CPU", "both CPU", "profiler CPU s", "RSS +MiB", "profiler RSS MiB",
                                              "profile MiB")]
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    for row in rows:
        plain = medians(row, "plain")
        unit = row["unit"]
        cells = [row["name"], f"{row['blocks']:,}" if row["blocks"] else "-",
                 f"{plain['figure']:.2f} {unit}" if plain else "failed"]
        for mode in profilers:
            profiled = medians(row, mode)
            if not profiled or not plain:
                cells += ["failed"] + ["-"] * 7
                continue
            wall = f"{profiled['figure']:.1f} ns" if unit == "ns" else ratio(profiled["figure"], plain["figure"])
            own = row["has_own_figure"]
            cells += [wall, "-" if own else ratio(profiled["whole_s"], plain["whole_s"]),
                      "-" if unit == "ns" else ratio(profiled["cpu_s"], plain["cpu_s"]),
                      "-" if unit == "ns" else ratio(profiled["cpu_s"] + profiled["profiler_cpu_s"], plain["cpu_s"]),
                      f"{profiled['profiler_cpu_s']:.2f}",
                      signed_mebibytes(profiled["peak_rss_kib"] - plain["peak_rss_kib"]),
                      mebibytes(profiled["profiler_rss_kib"] * 1024), mebibytes(profiled["profile_bytes"])]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def means(rows: list[dict], modes: list[str]) -> list[str]:
    """Geometric means over the real programs: those whose row is a time of a whole program, and servers."""
    lines = []
    for mode in modes[1:]:
        of = {"wall": [], "whole": [], "CPU of both": []}
        for row in rows:
            plain, profiled = medians(row, "plain"), medians(row, mode)
            if not plain or not profiled or row["name"] not in REAL_PROGRAMS:
                continue
            of["wall"].append(profiled["figure"] / plain["figure"])
            of["whole"].append((profiled["figure"] if row["has_own_figure"] else profiled["whole_s"]) /
                               (plain["figure"] if row["has_own_figure"] else plain["whole_s"]))
            of["CPU of both"].append((profiled["cpu_s"] + profiled["profiler_cpu_s"]) / plain["cpu_s"])
        if of["wall"]:
            lines.append(f"Geometric mean of {len(of['wall'])} real programs under {mode}: " +
                         ", ".join(f"{name} {geometric_mean(values):.2f}" for name, values in of.items()) + ".")
    return lines


def startup(options: argparse.Namespace, modes: list[str]) -> list[str]:
    """What the shortest of programs costs, from the start of the command to its end."""
    true = shutil.which("true") or "/bin/true"
    case = corpus.Case("true", [true])
    folder = pathlib.Path(options.work) / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    times = {mode: [] for mode in modes}
    for _ in range(10 * options.rounds):
        for mode in modes:
            start = time.perf_counter()
            subprocess.run(command_line(case, mode, options, folder / mode), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=True)
            times[mode].append((time.perf_counter() - start) * 1e3)
    return ["A program that does nothing, from its start to its end with the profile written: " +
            ", ".join(f"{mode} {median(values):.1f} ms" for mode, values in times.items()) + "."]


def alone(name: str, title: str, *arguments: str) -> list[str]:
    """The output of a benchmark that is built beside the tests."""
    tool = ROOT / "build/release/tests" / name
    if not tool.exists():
        return []
    output = subprocess.run([str(tool), *arguments], capture_output=True, text=True, check=True).stdout.rstrip()
    return ["", f"## {title}", "", "```", output, "```"]


def first_line(command: list[str]) -> str:
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT).stdout
        return text.splitlines()[0] if text else ""
    except OSError:
        return ""


def machine(options: argparse.Namespace) -> dict:
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), "unknown")
    return {
        "cpu": cpu, "processors": os.cpu_count(), "kernel": platform.release(), "libc": " ".join(platform.libc_ver()),
        "compiler": first_line(["g++", "--version"]), "heapprof": first_line([options.heapprof, "--version"]),
        "commit": first_line(["git", "describe", "--always", "--dirty"]),
        "heaptrack": first_line(["heaptrack", "--version"]),
        "clock": pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource").read_text().strip(),
    }


def write_report(options: argparse.Namespace, rows: list[dict], modes: list[str]) -> str:
    now = datetime.datetime.now(datetime.timezone.utc)
    facts = machine(options)
    load = os.getloadavg()[2]
    lines = [f"# Benchmark of {now:%Y-%m-%d %H:%M} UTC", "",
             f"{options.rounds} interleaved rounds, medians. Columns of a profiler: *wall* is the program's time over its time unprofiled (for pairs: nanoseconds per malloc and free, of all threads together);",
             "*whole* the time until the profiler has written its file, over the same; *CPU* the program's own CPU time over that unprofiled; *both CPU* that of the program and the profiler, over the same; *profiler CPU* what all other processes used;",
             "*RSS +* what the program's peak resident memory grew by (shared memory that both map counts in both); *profiler RSS* the largest of the others.",
             "A redis-server row times the requests of redis-benchmark. A heaptrack profile still has to be interpreted (`heaptrack_print`).", "",
             *(f"- {name}: {value}" for name, value in facts.items() if value),
             f"- load average over 15 minutes at the end: {load:.2f}", "", *table(rows, modes), "", *means(rows, modes), ""]
    if not options.only:
        lines += startup(options, modes)
        lines += alone("bench_unwind", "A whole stack (tests/bench/unwind.cc)")
        lines += alone("bench_collect",
                       "The collector alone, from a ring's bytes to the books (tests/bench/collect.cc)")
        lines += alone("bench_collect", "The same in two threads", "0", "1", "2")
    for row in rows:
        for mode, why in row["failed"].items():
            lines.append(f"- {row['name']} under {mode} failed: `{why.splitlines()[-1] if why else ''}`")
    text = "\n".join(lines).rstrip() + "\n"
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{now:%Y-%m-%d-%H%M}"
    # Where this checkout lies is nobody's business.
    text = text.replace(str(ROOT) + "/", "")
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    data = json.dumps({"date": now.isoformat(timespec="seconds"), "rounds": options.rounds, "machine": facts,
                       "rows": rows}, indent=1)
    stem.with_suffix(".json").write_text(data.replace(str(ROOT) + "/", "") + "\n", encoding="utf-8")
    print(text)
    return str(stem.with_suffix(".md"))


def main() -> int:
    options = arguments()
    options.heapprof, options.work, options.output = (os.path.abspath(path)
                                                      for path in (options.heapprof, options.work, options.output))
    pathlib.Path(options.work).mkdir(parents=True, exist_ok=True)
    modes = ["plain"]
    if os.access(options.heapprof, os.X_OK):
        modes.append("heapprof")
    else:
        print(f"bench: {options.heapprof} is not built: measuring without it", file=sys.stderr)
    if not options.no_heaptrack:
        if shutil.which("heaptrack"):
            modes.append("heaptrack")
        else:
            print("bench: heaptrack is not installed (scripts/setup --bench): measuring without it", file=sys.stderr)
    rows = []
    for make in corpus.CASES:
        case = make(options.work)
        if case is None:
            print(f"bench: {make.__name__}: its program is not installed, left out", file=sys.stderr)
            continue
        if options.only and not any(name in case.name for name in options.only):
            continue
        if options.list:
            print(case.name)
            continue
        print(f"bench: {case.name}", file=sys.stderr)
        rows.append(run_case(case, options, modes))
    if rows:
        print(write_report(options, rows, modes), file=sys.stderr)
    return 1 if any(row["failed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
