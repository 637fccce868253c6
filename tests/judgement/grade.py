#!/usr/bin/env python3
"""What the summary says of these programs, beside their truth (truth.tsv) and what it said before (said.tsv).

usage: grade.py HEAPPROF FOLDER [NAME…]     FOLDER: what build.sh has filled; NAME: docsearch; none: all

Prints a line for each: the program, its kind, and what was said. Exit status: 0 each line begins as said.tsv has it;
1 one differs; 2 one could not be run.
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def rows(name: str) -> dict[str, dict[str, str]]:
    with open(HERE / name, encoding="utf-8") as file:
        return {row["file"]: row for row in csv.DictReader(file, delimiter="\t")}


def command_of(folder: pathlib.Path, file: str) -> list[str]:
    name, kind = file.rsplit(".", 1)
    if kind == "py":
        return ["/usr/bin/python3", str(folder / file)]
    return ["node", str(folder / file)] if kind == "js" else [str(folder / name)]


def said_by(heapprof: str, command: list[str]) -> list[str]:
    """The lines that begin with worst, most and time, each as one line with single blanks."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([heapprof, "run", "-o", "p.json", "--", *command], text=True, cwd=work,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                              env={**os.environ, "COLUMNS": "400"})
    if done.returncode != 0:
        raise RuntimeError(f"{command[-1]} ended with {done.returncode}: {done.stderr[-300:]}")
    lines = [" ".join(line.split()) for line in done.stderr.splitlines()]
    return [line for line in lines if line.split(" ")[0] in ("worst", "most", "time")]


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[2]).resolve()
    names = sys.argv[3:]
    expected = rows("said.tsv")
    status = 0
    for file, truth in rows("truth.tsv").items():
        if names and file.rsplit(".", 1)[0] not in names:
            continue
        try:
            said = said_by(os.path.abspath(sys.argv[1]), command_of(folder, file))
        except (OSError, RuntimeError) as error:
            print(f"{file}: {error}", file=sys.stderr)
            return 2
        wanted = expected[file]
        first = said[0].split(" ")[0] if said else "none"
        line = said[0] if said else ""
        holds = first in wanted["label"].split("|") and all(word in line for word in wanted["words"].split("|"))
        if wanted["time"] != "either":
            holds = holds and any(line.startswith("time") for line in said) == (wanted["time"] == "yes")
        status = status if holds else 1
        print(f"{'ok     ' if holds else 'DIFFERS'} {file:16} {truth['kind']:13} {' / '.join(said)[:200]}")
    return status


if __name__ == "__main__":
    sys.exit(main())
