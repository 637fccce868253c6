#!/usr/bin/env python3
"""tests/support/suites.py: does CPython's own test suite give the same result, test by test, under heapprof as without
it?

usage: suites.py HEAPPROF MODULE…      MODULE: test_os, test_subprocess, …
Needs a python3 with its test suite (Debian: libpython3.11-testsuite). Each module runs by itself, without heapprof and
under `heapprof run`, children followed. A difference counts if it is there again in a second run (some of these tests
depend on time). Prints a line a module; exit status 1 if anything differs, 77 if there is no such suite here.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

LIMIT_S = 900


def find_python():
    for python in sorted(glob.glob("/usr/bin/python3.[0-9]*")):
        if python.rsplit(".", 1)[1].isdigit() and subprocess.run(
                [python, "-c", "import test.test_gc"], stdin=subprocess.DEVNULL, capture_output=True,
                check=False).returncode == 0:
            return python
    return None


def run(prefix, python, module, folder):
    """Test name → ok, skipped, failure or error; and the exit status."""
    report = os.path.join(folder, "report.xml")
    if os.path.exists(report):
        os.remove(report)
    command = prefix + [python, "-m", "test", "--junit-xml", report, module]
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S,
                              check=False)
        status = done.returncode
    except subprocess.TimeoutExpired:
        status = f"no end within {LIMIT_S} s"
    results = {}
    if os.path.exists(report) and os.path.getsize(report):
        for case in ElementTree.parse(report).iter("testcase"):
            # A test with parts that fail is listed more than once: the worst counts.
            kinds = {child.tag for child in case}
            kind = next((k for k in ("error", "failure", "skipped") if k in kinds), "ok")
            results.setdefault(case.get("name"), set()).add(kind)
    return {name: "+".join(sorted(kinds)) for name, kinds in results.items()}, status


def differences(plain, ours):
    wrong = [f"{name}: {plain[0].get(name, 'not run')} without, {ours[0].get(name, 'not run')} under heapprof"
             for name in sorted(set(plain[0]) | set(ours[0])) if plain[0].get(name) != ours[0].get(name)]
    if plain[1] != ours[1]:
        wrong.append(f"exit status {plain[1]} without, {ours[1]} under heapprof")
    return wrong


def compare(heapprof, python, module):
    folder = tempfile.mkdtemp(prefix="heapprof-suite.")
    profiles = os.path.join(folder, "profiles")
    os.mkdir(profiles)
    under = [heapprof, "run", "-q", "--all-processes", "-o", os.path.join(profiles, "profile.json"), "--"]
    try:
        plain = run([], python, module, folder)
        ours = run(under, python, module, folder)
        count = len(os.listdir(profiles))
        wrong = differences(plain, ours)
        if wrong:
            again = differences(run([], python, module, folder), run(under, python, module, folder))
            wrong = [line for line in wrong if line in again]
        skipped = sum(kind == "skipped" for kind in plain[0].values())
        print(f"{module:32} {len(plain[0]):5} tests, {skipped:3} skipped by themselves, {count:4} profiles:",
              f"{len(wrong)} differ" if wrong else "the same", flush=True)
        for line in wrong:
            print(f"  {line}", flush=True)
        if not plain[0]:
            print(f"  {module} ran no test")
        if not os.path.exists(os.path.join(profiles, "profile.json")):
            wrong.append("there is no profile")
        return not wrong
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    python = find_python()
    if python is None:
        print("skipped: no python3 with its test suite here (Debian: libpython3.11-testsuite)")
        return 77
    same = [compare(sys.argv[1], python, module) for module in sys.argv[2:]]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
