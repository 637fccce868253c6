# tests/bench/growth.py: how time and memory grow with events, live blocks, call stacks and threads, as curves.
#
# usage: tests/bench/growth.py [--rounds N] [--heapprof FILE] [--work FOLDER] [--output STEM] [--smaller N]
#
# Runs growth.cc, which is built into the work folder, once plain and once under heapprof for each point, interleaved;
# of several rounds the least counts. Writes STEM.md with all numbers and STEM.svg with the curves.
import argparse
import math
import os
import pathlib
import subprocess
import sys

import measure

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Events, live blocks, stacks, threads; one of them changes in each series.
EVENTS, LIVE, STACKS, THREADS = 4_000_000, 10_000, 1_000, 1
SERIES = {
    "events": [(10**n, LIVE, STACKS, THREADS) for n in (5, 6, 7, 8)],
    "live blocks": [(max(EVENTS, 3 * 10**n), 10**n, STACKS, THREADS) for n in (3, 4, 5, 6, 7)],
    "call stacks": [(EVENTS, LIVE, 10**n, THREADS) for n in (2, 3, 4, 5, 6)],
    "threads": [(EVENTS, LIVE, STACKS, n) for n in (1, 2, 4, 8, 16, 32, 64)],
}
COLUMN = {"events": 0, "live blocks": 1, "call stacks": 2, "threads": 3}
FIGURES = [("wall, ns an event more than plain", "wall"), ("CPU of the collector, ns an event", "collector"),
           ("more CPU of the program, ns an event", "program"), ("memory of the collector, MiB", "memory")]


def run_point(point: tuple, options: argparse.Namespace) -> dict:
    program = str(options.work / "growth")
    command = [program, *map(str, point)]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    profile = options.work / "growth.json"
    best = {}
    for _ in range(options.rounds):
        plain = measure.run(command, program, environment, str(options.work))
        ours = measure.run([options.heapprof, "run", "-q", "-o", str(profile), "--", *command], program, environment,
                           str(options.work))
        for key, value in (("plain", plain.whole_s), ("whole", ours.whole_s), ("plain_cpu", plain.cpu_s),
                           ("cpu", ours.cpu_s), ("collector_cpu", ours.profiler_cpu_s),
                           ("memory", ours.profiler_rss_kib / 1024)):
            best[key] = min(best.get(key, math.inf), value)
    events = point[0]
    return {"point": point, "plain_s": best["plain"], "whole_s": best["whole"],
            "wall": max(0.0, best["whole"] - best["plain"]) / events * 1e9,
            "collector": best["collector_cpu"] / events * 1e9,
            "program": max(0.0, best["cpu"] - best["plain_cpu"]) / events * 1e9, "memory": best["memory"]}


def power(value: float) -> str:
    exponent = round(math.log10(value))
    return f"10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}" if 10**exponent == value and value >= 100 else f"{value:g}"


def panel(title: str, series: list[dict], column: int, key: str, left: int, top: int) -> str:
    """One curve: x logarithmic, y from 0."""
    width, height = 190, 120
    xs = [math.log10(row["point"][column]) for row in series]
    most = max(row[key] for row in series) or 1
    step = 10 ** math.floor(math.log10(most))
    limit = math.ceil(most / step) * step

    def at(x: float, y: float) -> tuple[float, float]:
        return left + (x - xs[0]) / (xs[-1] - xs[0]) * width, top + height - y / limit * height

    lines = [f'<text x="{left}" y="{top - 8}" class="title">{title}</text>',
             f'<path d="M{left} {top}V{top + height}H{left + width}" class="axis"/>',
             f'<text x="{left - 4}" y="{top + 4}" text-anchor="end">{limit:g}</text>',
             f'<text x="{left - 4}" y="{top + height}" text-anchor="end">0</text>']
    points = [at(x, row[key]) for x, row in zip(xs, series)]
    lines.append('<polyline points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>')
    for (x, y), row in zip(points, series):
        value = row["point"][column]
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"><title>{value:,}: {row[key]:.4g}</title></circle>')
        lines.append(f'<text x="{x:.1f}" y="{top + height + 13}" text-anchor="middle">{power(value)}</text>')
    return "\n".join(lines)


def draw(rows: dict) -> str:
    parts = []
    for line, (series, points) in enumerate(rows.items()):
        for column, (title, key) in enumerate(FIGURES):
            parts.append(panel(f"{title}" if line == 0 else "", points, COLUMN[series], key, 130 + column * 270,
                               40 + line * 175))
        parts.append(f'<text x="10" y="{100 + line * 175}" class="series">{series}</text>')
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1180 740" font-family="sans-serif" font-size="10">\n'
            "<style>svg{background:#fff}text{fill:#333}.title{font-size:11px}.series{font-size:13px;font-weight:bold}"
            ".axis{fill:none;stroke:#999}polyline{fill:none;stroke:#1668b8;stroke-width:1.5}circle{fill:#1668b8}</style>\n"
            + "\n".join(parts) + "\n</svg>\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures how heapprof's time and memory grow.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--heapprof", default=str(ROOT / "build/release/bin/heapprof"), type=os.path.abspath)
    parser.add_argument("--work", default=ROOT / "build/bench", type=pathlib.Path)
    parser.add_argument("--output", default=str(HERE / "runs" / "growth"), metavar="STEM")
    parser.add_argument("--smaller", type=int, default=1, metavar="N", help="an N-th of all events and live blocks")
    options = parser.parse_args()
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    subprocess.run(["c++", "-std=c++20", "-O2", "-g", "-fno-builtin-malloc", str(HERE / "growth.cc"), "-o",
                    str(options.work / "growth"), "-pthread"], check=True)
    rows = {}
    for series, points in SERIES.items():
        rows[series] = []
        for point in points:
            events, live, stacks, threads = point
            rows[series].append(run_point((events // options.smaller, max(1, live // options.smaller), stacks, threads),
                                          options))
            print(series, point, {key: round(value, 1) for key, value in rows[series][-1].items() if key != "point"},
                  file=sys.stderr)
    command = "tests/bench/growth.py" + (f" --rounds {options.rounds}" if options.rounds != 3 else "") + (
        f" --smaller {options.smaller}" if options.smaller != 1 else "")
    stem = pathlib.Path(options.output)
    lines = ["# How time and memory grow", "",
             f"`{command}`: tests/bench/growth.cc plain and under heapprof, the least of {options.rounds} interleaved rounds. An event is",
             "an allocation or a free. Wall is the whole command's, with the start of the run, its end and the profile written.",
             "", f"![curves]({stem.name}.svg)", "",
             "| series | events | live blocks | stacks | threads | plain s | whole s | " +
             " | ".join(title for title, _ in FIGURES) + " |", "| --- |" + " ---: |" * (6 + len(FIGURES))]
    for series, points in rows.items():
        for row in points:
            lines.append(f"| {series} | " + " | ".join(f"{value:,}" for value in row["point"]) +
                         f" | {row['plain_s']:.3f} | {row['whole_s']:.3f} | " +
                         " | ".join(f"{row[key]:.1f}" for _, key in FIGURES) + " |")
    stem.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    stem.with_suffix(".svg").write_text(draw(rows), encoding="utf-8")
    print(stem.with_suffix(".md"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
