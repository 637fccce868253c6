# tests/bench/measure.py: runs one command and measures the program inside it, whatever is wrapped round it.
#
# The program under test is found among the descendants of the command by its executable. Its end is learnt by pidfd, so
# its wall time is its own, without the profiler's work afterwards; its CPU time and peak memory are read from /proc
# until it is gone (every 10 ms, and once more when the pidfd reports). What remains of the command's CPU time is the
# profiler's.
import os
import pathlib
import select
import subprocess
import tempfile
import time
from dataclasses import dataclass

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
POLL_S = 0.010


@dataclass
class Measurement:
    wall_s: float            # from the command's start to the program's end
    whole_s: float           # to the command's end
    cpu_s: float             # the program's, user and system
    profiler_cpu_s: float    # of everything else below the command
    peak_rss_kib: int        # the program's
    profiler_rss_kib: int    # the largest of the other processes
    status: int
    stdout: str


def descendants(pid: int) -> list[int]:
    """All living processes below pid, itself first."""
    found = [pid]
    for parent in found:
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                text = pathlib.Path(f"/proc/{parent}/task/{task}/children").read_text()
                found.extend(int(word) for word in text.split())
        except OSError:
            continue
    return found


def cpu_of(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def peak_rss_of(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


class Watch:
    """Follows the program under test until its end."""

    def __init__(self, command_pid: int, executable: str):
        self.command_pid = command_pid
        self.executable = os.path.realpath(executable)
        self.pid = 0
        self.pidfd = -1
        self.cpu_s = 0.0
        self.peak_rss_kib = 0
        self.profiler_rss_kib = 0
        self.ended_at = 0.0

    def find(self) -> None:
        for pid in descendants(self.command_pid):
            try:
                if os.readlink(f"/proc/{pid}/exe") == self.executable:
                    self.pidfd = os.pidfd_open(pid)
                    self.pid = pid
                    return
            except OSError:
                continue

    def read(self) -> None:
        try:
            self.cpu_s = max(self.cpu_s, cpu_of(self.pid))
            self.peak_rss_kib = max(self.peak_rss_kib, peak_rss_of(self.pid))
        except (OSError, IndexError):
            pass
        for pid in descendants(self.command_pid):
            if pid != self.pid:
                try:
                    self.profiler_rss_kib = max(self.profiler_rss_kib, peak_rss_of(pid))
                except OSError:
                    pass

    def step(self) -> None:
        """Sleeps one interval, or until the program ends."""
        if self.ended_at:
            time.sleep(POLL_S)
        elif not self.pid:
            self.find()
            time.sleep(POLL_S / 10)
        else:
            readable, _, _ = select.select([self.pidfd], [], [], POLL_S)
            now = time.perf_counter()
            self.read()
            if readable:
                self.ended_at = now
                os.close(self.pidfd)


def run(command: list[str], executable: str, environment: dict[str, str], folder: str, driver=None,
        limit_s: float = 900) -> Measurement:
    """Runs command in folder, with a driver (a function that makes the program work and end) or without."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=errors)
        watch = Watch(process.pid, executable)
        driven = ""
        if driver:
            driven = driver(lambda: watch.step() if not watch.pid else watch.read())
        usage = None
        while usage is None:
            watch.step()
            pid, status, rusage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                usage = rusage
                process.returncode = os.waitstatus_to_exitcode(status)
            elif time.perf_counter() - start > limit_s:
                for descendant in reversed(descendants(process.pid)):
                    os.kill(descendant, 9)
                process.wait()
                raise TimeoutError(f"{command[0]}: not done after {limit_s:.0f} s")
        end = time.perf_counter()
        output.seek(0)
        errors.seek(0)
        text, complaint = output.read(100_000), errors.read(100_000)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)[:300]}: exit {process.returncode}\n{complaint[-2000:]}")
        all_cpu_s = usage.ru_utime + usage.ru_stime
        is_plain = watch.pid == process.pid
        cpu_s = all_cpu_s if is_plain else min(watch.cpu_s, all_cpu_s)
        return Measurement(wall_s=(watch.ended_at or end) - start, whole_s=end - start, cpu_s=cpu_s,
                           profiler_cpu_s=all_cpu_s - cpu_s,
                           peak_rss_kib=watch.peak_rss_kib, profiler_rss_kib=watch.profiler_rss_kib,
                           status=process.returncode, stdout=driven or text)
