"""What a pair of malloc and free costs where blocks are sampled, not recorded, or all recorded.

usage: sampling.py HEAPPROF [ROUNDS]    interleaved; prints medians, in nanoseconds a pair
"""
import re
import statistics
import subprocess
import sys
import tempfile

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
__attribute__((noinline)) void* take(void) { void* block = malloc(16); __asm__ volatile("" ::"r"(block)); return block; }
int main(void) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const long pairs = 2000000;
    const double start = now();
    for (long i = 0; i < pairs; ++i) free(take());
    const double ns = (now() - start) / pairs;
    if (ns < best) best = ns;
  }
  fprintf(stderr, "pair %.2f ns\n", best);
  return 0;
}
"""
FLAGS = {"alone": None, "--start=paused": ["--start=paused"], "--sample 512KiB": ["--sample", "512KiB"],
         "--sample 64KiB": ["--sample", "64KiB"], "every block": []}


def main():
    heapprof, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/pair.c", "w", encoding="utf-8") as file:
            file.write(SOURCE)
        subprocess.run(["cc", "-O2", "-o", f"{folder}/pair", f"{folder}/pair.c"], check=True)
        found = {name: [] for name in FLAGS}
        for _ in range(rounds):
            for name, flags in FLAGS.items():
                run = [] if flags is None else [heapprof, "run", "-q", "-o", f"{folder}/p.json", *flags, "--"]
                said = subprocess.run([*run, f"{folder}/pair"], capture_output=True, text=True, check=True).stderr
                found[name].append(float(re.search(r"pair ([\d.]+)", said).group(1)))
    alone = statistics.median(found["alone"])
    for name, times in found.items():
        middle = statistics.median(times)
        print(f"| {name} | {middle:.1f} | {middle - alone:+.1f} | {min(times):.1f} to {max(times):.1f} |")


main()
