# scripts/sources.py: what the checks written in Python share: the files of a tree, and their code without what is not
# code.
# usage: from sources import Tree, blank_strings, blank_comments (the checks stand in this folder, so Python finds
# it)
import pathlib
import re
import subprocess
import sys

CPP = (".h", ".hpp", ".cc", ".c", ".def", ".cu", ".S")


def _hollow(found: re.Match) -> str:
    """The line breaks of a match and nothing else of it, so that line numbers stay true."""
    return "\n" * found[0].count("\n")


_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|(?P<string>R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\')',
    re.S)


def blank_comments(text: str) -> str:
    """C++ without its comments."""
    return _TOKEN.sub(lambda found: _hollow(found) if found["comment"] else found[0], text)


def blank_strings(text: str) -> str:
    """C++ without what stands in its string literals."""
    return _TOKEN.sub(lambda found: '""' + _hollow(found) if found["string"] else found[0], text)


def only_comments(text: str) -> str:
    """The comments of C++, each on its line, and nothing else."""
    kept, end = [], 0
    for found in _TOKEN.finditer(text):
        kept.append("\n" * text.count("\n", end, found.start()))
        kept.append(found[0] if found["comment"] else _hollow(found))
        end = found.end()
    return "".join(kept)


class Tree:
    """The files of a working tree that git knows or would take up; of a folder without git, all."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        if (root / ".git").exists():
            ask = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"]
            names = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.split("\n")
        else:
            names = [file.relative_to(root).as_posix() for file in root.rglob("*")]
        self.files = sorted({name for name in names if name and (root / name).is_file()})
        self._texts = {}

    def text(self, path: str) -> str:
        """What the file says; empty if it is not text."""
        if path not in self._texts:
            data = (self.root / path).read_bytes()
            self._texts[path] = "" if b"\0" in data[:4096] else data.decode("utf-8", "replace")
        return self._texts[path]

    def below(self, *paths: str) -> list[str]:
        """The files that have one of these paths, or lie below one."""
        folders = tuple(path + "/" for path in paths)
        return [file for file in self.files if file in paths or file.startswith(folders)]


def tree_of_arguments() -> Tree:
    """The tree that the first argument names; without one, the project's own."""
    return Tree(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent))


def report(complaints: list[str]) -> int:
    """Prints the complaints. Returns the exit status."""
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0
