#!/usr/bin/env python3
# tests/bench/ranks.py: time and memory of heapprof merge, by the number of profiles. Prints a Markdown table; asserts
# nothing.
# usage: ranks.py BUILD [--sites N] [--counts 10,100,1000] [--folder DIR]
#   Profiles are generated (tests/support/make_profile.cc, "ranks"): of one program, each without a twentieth of the
#   sites and with its own multiple of the numbers of each. They stay in DIR, 4.3 GB for 1,000 of 20,000 sites.
import argparse
import filecmp
import os
import subprocess
import tempfile
import time


def measured(command):
    start = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        raise SystemExit(f"{command} ended with {status}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--sites", type=int, default=26500, help="stacks; about three quarters of them are sites")
    parser.add_argument("--counts", default="10,100,1000")
    parser.add_argument("--folder")
    options = parser.parse_args()
    counts = [int(count) for count in options.counts.split(",")]
    folder = options.folder or tempfile.mkdtemp(prefix="heapprof-ranks-")
    os.makedirs(folder, exist_ok=True)
    if len([name for name in os.listdir(folder) if name.startswith("rank.")]) < max(counts):
        subprocess.run([f"{options.build}/tests/make_profile", "ranks", str(options.sites), str(max(counts)), folder],
                       check=True)
    merge = [f"{options.build}/bin/heapprof", "merge", "-q", "--all-sites", "-o"]
    files = [f"{folder}/rank.{rank}.json" for rank in range(max(counts))]
    print("| profiles | wall | CPU | largest resident | size of the sum |")
    print("| --- | --- | --- | --- | --- |")
    for count in counts:
        wall, cpu, rss = measured([*merge, f"{folder}/sum.{count}", *files[:count]])
        size = os.path.getsize(f"{folder}/sum.{count}") / 1e6
        print(f"| {count} | {wall:.1f} s | {cpu:.1f} s | {rss:.0f} MiB | {size:.1f} MB |", flush=True)
    # In ten parts, each merged alone and then the sums, as ten nodes would; the last step is what process 0 does alone.
    most = max(counts)
    parts = [files[part::10] for part in range(10)]
    costs = [measured([*merge, f"{folder}/part.{at}", *part]) for at, part in enumerate(parts)]
    wall, cpu, rss = measured([*merge, f"{folder}/tree", *(f"{folder}/part.{at}" for at in range(10))])
    same = filecmp.cmp(f"{folder}/tree", f"{folder}/sum.{most}", shallow=False)
    print(f"\nAs ten nodes of {most // 10}: the slowest {max(cost[0] for cost in costs):.1f} s, then the ten sums "
          f"{wall:.1f} s, {cpu:.1f} s of CPU, {rss:.0f} MiB; the bytes are {'the same' if same else 'OTHERS'}.")


main()
