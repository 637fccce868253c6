#!/usr/bin/env python3
"""What heapprof counts on a machine with an NVIDIA GPU, beside what the programs themselves say. Called by
scripts/gpu-check.

usage: check.py HEAPPROF FOLDER [--driver-only]     FOLDER: for what is built and written

Prints one table. Exit status: 0 all as it must be, 1 something differs, 2 a program could not be built or run.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAIRS = "20000"
GRANULES = 32 << 20  # the driver takes more than it is asked for: 2 MiB at a time


class Check:
    def __init__(self, heapprof: str, folder: str):
        self.heapprof = os.path.abspath(heapprof)
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rows: list[tuple[str, str, str, str]] = []
        self.failed = False

    def row(self, what: str, expected, got, holds=None) -> None:
        """holds: None for what is only said."""
        verdict = "" if holds is None else "ok" if holds else "DIFFERS"
        self.failed = self.failed or holds is False
        self.rows.append((what, str(expected), str(got), verdict))

    def skip(self, what: str, why: str) -> None:
        self.rows.append((what, "-", why, "skipped"))

    def run(self, command: list[str], flags: tuple[str, ...] = (), environment: dict | None = None) -> tuple[str, dict]:
        """The program's output without heapprof's summary, and its profile."""
        profile = self.folder / "profile.json"
        profile.unlink(missing_ok=True)
        done = subprocess.run([self.heapprof, "run", "-q", "-o", str(profile), *flags, "--", *command], text=True,
                              stdout=subprocess.PIPE, check=False, env={**os.environ, **(environment or {})})
        if done.returncode != 0 or not profile.exists():
            raise RuntimeError(f"{command[0]} ended with {done.returncode} under heapprof: {done.stdout.strip()[-200:]}")
        return done.stdout, json.loads(profile.read_text(encoding="utf-8"))

    def build(self, name: str) -> str:
        program = str(self.folder / name)
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-g", str(HERE / f"{name}.cc"), "-o",
                        program, "-ldl"], check=True)
        return program

    def books(self, what: str, command: list[str]) -> dict:
        """Compares the program's own books with the profile's, device by device."""
        output, profile = self.run(command)
        devices = {device["name"]: device for device in profile["heapprof"]["devices"]}
        for line in output.splitlines():
            if line.startswith("#"):
                self.row(what, "", line[2:])
                continue
            name, *expected = line.split()
            totals = devices.get(name, {}).get("totals", {})
            got = [str(totals.get(key, 0)) for key in ("total_bytes", "total_count", "peak_bytes", "leaked_bytes")]
            self.row(f"{what}: {name}: total, allocations, peak, left", " ".join(expected), " ".join(got),
                     got == expected)
        return profile

    def device(self, profile: dict, name: str = "cuda:0") -> dict:
        return next((device for device in profile["heapprof"]["devices"] if device["name"] == name), {})

    def driver(self) -> None:
        program = self.build("driver")
        device = self.device(self.books("driver", [program]))
        refusals = device.get("refusals", [])
        self.row("driver: a refused allocation, and what was free", "1 true",
                 f"{len(refusals)} {str(bool(refusals) and 'free_bytes' in refusals[0]).lower()}",
                 len(refusals) == 1 and "free_bytes" in refusals[0])
        identity = device.get("identity", {})
        self.row("driver: what the device is", "",
                 f"{identity.get('product')} {identity.get('pci_id')} {identity.get('uuid')}", bool(identity))
        output, _ = self.run([program], ("--limit", "cuda:0=512MiB"))
        said = next((line for line in output.splitlines() if line.startswith("#")), "")
        self.row("driver: a limit of 512 MiB", "… of 536870912 bytes are free", said[2:],
                 "of 536870912 bytes are free" in said)
        self.estimates(program)
        plain = int(subprocess.run([program, "pairs", PAIRS], capture_output=True, text=True, check=True).stdout)
        ours, _ = self.run([program, "pairs", PAIRS])
        self.row("a pair of cuMemAlloc and cuMemFree", f"{plain} ns",
                 f"{int(ours)} ns: {(int(ours) - plain) / 2:+.0f} ns a call")

    def holdings(self) -> None:
        """What the driver says that it holds, asked by the program itself."""
        program = self.build("holdings")
        output, profile = self.run([program])
        for line in output.splitlines():
            what, *expected = line.split()
            if what == "#":
                self.row("what the driver holds", "", line[2:])
                continue
            if what == "registered":
                totals = self.device(profile, what).get("totals", {})
                got = [totals.get(key, 0) for key in ("total_bytes", "total_count", "peak_bytes", "leaked_bytes")]
                text = "registered: total, registrations, peak, left"
            else:
                held = self.device(profile, expected.pop(0)).get("held", {})
                keys = ("bytes", "peak_bytes") if what == "pools" else ("bytes", "peak_bytes", "used_bytes",
                                                                        "used_peak_bytes")
                got = [held.get(f"{what}_{key}", 0) for key in keys]
                text = f"held for {what}: " + ("now, most" if what == "pools" else "now, most, in use, most in use")
            self.row(text, " ".join(expected), " ".join(map(str, got)), expected == list(map(str, got)))

    def in_use(self) -> None:
        """A program that holds memory until NVML must have been asked: what NVML counts is at least that."""
        output, profile = self.run([self.build("use")])
        held = int(output.split()[0])
        use = self.device(profile).get("use", {})
        if use.get("samples_count", 0) == 0:
            return self.row("in use by NVML's count, at least what was held", held, use.get("missing", "nothing"),
                            False)
        got, seen = use["max_bytes"], use["seen_at_max_bytes"]
        whose = "by all" if use["is_of_all"] else "by this process"
        self.row(f"in use by NVML's count {whose}, at least what was held", held, f"{got}: unattributed {got - seen}",
                 got >= held == seen)

    def estimates(self, program: str) -> None:
        """What is counted and what is estimated make what cuMemGetInfo says is in use, on a device that nobody else
        uses."""
        output, profile = self.run([program], ("--estimate-gpu",))
        said = next((line.split() for line in output.splitlines() if line.startswith("#")), [])
        device = self.device(profile)
        estimates = device.get("unseen", {}).get("estimates", [])
        if len(said) < 4 or not estimates:
            return self.row("driver: contexts and modules, estimated", "an estimate", f"{len(estimates)} estimates",
                            False)
        in_use = int(said[3]) - int(said[1])
        live = next(int(line.split()[3]) for line in output.splitlines()
                    if line.startswith("cuda:0"))  # the peak is then
        got = live + sum(estimate["size_bytes"] for estimate in estimates)
        self.row("driver: in use, by cuMemGetInfo; counted and estimated", in_use, f"{got} ({got - in_use:+d})",
                 abs(got - in_use) <= GRANULES)

    def runtime(self) -> None:
        nvcc = shutil.which("nvcc") or next((str(path) for path in pathlib.Path("/usr/local").glob("cuda*/bin/nvcc")),
                                            None)
        if nvcc is None:
            return self.skip("CUDA runtime, static and shared", "no nvcc")
        for kind in ("static", "shared"):
            program = str(self.folder / f"runtime-{kind}")
            libraries = pathlib.Path(nvcc).resolve().parent.parent / "lib64"
            subprocess.run([nvcc, "-cudart", kind, str(HERE / "runtime.cu"), "-o", program, "-Xlinker",
                            f"-rpath={libraries}"], check=True)
            profile = self.books(f"{kind} runtime", [program])
            launches = profile["heapprof"].get("device_api", {}).get("kernel_launches_count", 0)
            self.row(f"{kind} runtime: kernels launched", 100, launches, launches == 100)
            kernels = profile["heapprof"].get("scopes", {}).get("outside", {}).get("kernels", [])
            named = sum(kernel["launches_count"] for kernel in kernels if "touch(" in kernel["name"])
            self.row(f"{kind} runtime: kernels launched, by name", 100, named, named == 100)

    def tensors(self) -> None:
        for expandable in ("False", "True"):
            what = f"PyTorch, expandable_segments:{expandable}"
            environment = {"PYTORCH_CUDA_ALLOC_CONF": f"expandable_segments:{expandable}"}
            command = [sys.executable, str(HERE / "tensors.py")]
            plain = subprocess.run(command, capture_output=True, text=True, check=False,
                                   env={**os.environ, **environment})
            if plain.returncode != 0:
                self.skip(what,
                          "PyTorch with CUDA is not here: " + (plain.stderr.strip().splitlines() or ["?"])[-1][:60])
                continue
            output, profile = self.run(command, environment=environment)
            reserved = int(output.split()[1])
            peak = self.device(profile).get("totals", {}).get("peak_bytes", 0)
            # What PyTorch's libraries take besides goes past its allocator.
            self.row(f"{what}: peak, at least what it reserved", reserved, f"{peak} ({peak - reserved:+d})",
                     peak >= reserved)
            expected = output.split()[3:]
            totals = self.device(profile, "cuda:0/tensors").get("totals", {})
            got = [str(totals.get(key, 0)) for key in ("total_bytes", "total_count", "peak_bytes", "leaked_bytes")]
            self.row(f"{what}: tensors: total, allocations, peak, left", " ".join(expected), " ".join(got),
                     got == expected)

    def jax(self) -> None:
        """JAX as it comes, with an arena that grows, and with each buffer the driver's."""
        command = [sys.executable, str(HERE / "jax_steps.py")]
        for name, variables in (("as it comes", {}), ("a growing arena", {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
                                ("no arena", {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"})):
            what = f"JAX, {name}"
            plain = subprocess.run(command, capture_output=True, text=True, check=False,
                                   env={**os.environ, **variables})
            if plain.returncode != 0:
                self.skip(what, "JAX with CUDA is not here: " + (plain.stderr.strip().splitlines() or ["?"])[-1][:60])
                continue
            output, profile = self.run(command, environment=variables)
            self.row(f"{what}: ends and computes as without", plain.stdout.split()[1], output.split()[1],
                     output.split()[1] == plain.stdout.split()[1])
            totals = self.device(profile).get("totals", {})
            arena = output.split()[3]
            if arena == "none":
                self.row(f"{what}: peak, allocations", "", f"{totals.get('peak_bytes', 0)} "
                         f"{totals.get('total_count', 0)}", totals.get("total_count", 0) > 0)
            else:
                peak = totals.get("peak_bytes", 0)
                self.row(f"{what}: peak, at least its arena", arena, f"{peak} ({peak - int(arena):+d})",
                         peak >= int(arena))

    def table(self) -> None:
        widths = [max(len(row[column]) for row in self.rows) for column in range(4)]
        for row in self.rows:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    check = Check(sys.argv[1], sys.argv[2])
    try:
        check.driver()
        check.holdings()
        check.in_use()
        if "--driver-only" not in sys.argv:
            check.runtime()
            check.tensors()
            check.jax()
    except (RuntimeError, subprocess.CalledProcessError, ValueError, OSError, KeyboardInterrupt) as error:
        check.table()
        print(f"gpu-check: {error or 'stopped'}", file=sys.stderr)
        return 2
    check.table()
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
