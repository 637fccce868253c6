# tests/bench/corpus.py: the programs that are measured, and the work that they are given.
#
# A case is a function that prepares its input in a folder (once) and returns a Case, or None where its program is not
# installed. All input is generated, the same each time.
import os
import random
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from typing import Callable, Optional


@dataclass
class Case:
    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    driver: Optional[Callable] = None      # makes a server work and end
    measure: Optional[Callable] = None     # reads a figure of its own from stdout; None: wall time counts
    unit: str = "s"

    @property
    def executable(self) -> str:
        return self.command[0]


def program(name: str) -> str:
    """Debian's own, where a machine has another one too."""
    for folder in ("/usr/bin", "/bin"):
        if os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    return shutil.which(name) or ""


def generated(path: str, write: Callable) -> str:
    if not os.path.exists(path):
        with open(path + ".part", "w", encoding="utf-8") as out:
            write(out)
        os.rename(path + ".part", path)
    return path


def sqlite3(folder: str) -> Optional[Case]:
    if not (tool := program("sqlite3")):
        return None
    rows = 250_000

    def write_rows(out):
        for i in range(rows):
            out.write(f"{i},customer {i * 7919 % rows},{i % 997},{i * 31 % 10007}.{i % 100:02}\n")

    csv = generated(f"{folder}/orders.csv", write_rows)
    script = generated(f"{folder}/import.sql",
                       lambda out: out.write(f"""create table orders(id integer, customer text, shop integer, price real);
.mode csv
.import {csv} orders
create index by_customer on orders(customer);
create index by_shop on orders(shop, price);
select count(*), sum(a.price) from orders a join orders b on a.customer = b.customer where b.price > 50;
select shop, group_concat(substr(customer, 1, 12)) from orders where price < 100 group by shop limit 5;
"""))
    return Case("sqlite3", [tool, "-batch", ":memory:", f".read {script}"])


def cc1plus(folder: str) -> Optional[Case]:
    compiler = program("g++")
    if not compiler:
        return None
    cc1plus_path = subprocess.run([compiler, "-print-prog-name=cc1plus"], capture_output=True, text=True,
                                  check=True).stdout.strip()
    if not os.path.isabs(cc1plus_path):
        return None
    headers = ["algorithm", "any", "array", "bitset", "charconv", "chrono", "complex", "condition_variable", "deque",
               "filesystem", "format", "forward_list",
               "functional", "future", "iomanip", "iostream", "list", "map", "memory", "memory_resource", "mutex",
               "numeric", "optional", "random", "ranges",
               "regex", "set", "shared_mutex", "span", "sstream", "stack", "string", "thread", "tuple",
               "unordered_map", "unordered_set", "valarray", "variant", "vector"]

    def write_source(out):
        for header in headers:
            out.write(f"#if __has_include(<{header}>)\n#include <{header}>\n#endif\n")
        for i in range(12):
            out.write(f"""
struct Tag{i} {{ int value; bool operator<(const Tag{i}& other) const {{ return value < other.value; }} }};
int use{i}() {{
  std::map<std::string, std::vector<Tag{i}>> groups;
  std::set<Tag{i}> tags;
  for (int n = 0; n < 100; ++n) {{ groups[std::to_string(n % 7)].push_back({{n}}); tags.insert({{n * {i + 1} % 31}}); }}
  std::vector<Tag{i}> sorted(tags.begin(), tags.end());
  std::sort(sorted.begin(), sorted.end(), [](const Tag{i}& a, const Tag{i}& b) {{ return b < a; }});
  std::function<int(int)> next = [&](int n) {{ return n + static_cast<int>(sorted.size()); }};
  return std::accumulate(sorted.begin(), sorted.end(), 0, [&](int sum, const Tag{i}& t) {{ return sum + next(t.value); }});
}}
""")
        out.write("int main() { return " + " + ".join(f"use{i}()" for i in range(12)) + "; }\n")

    source = generated(f"{folder}/heavy.cc", write_source)
    preprocessed = f"{folder}/heavy.ii"
    if not os.path.exists(preprocessed):
        subprocess.run([compiler, "-std=c++20", "-E", source, "-o", preprocessed + ".part"], check=True)
        os.rename(preprocessed + ".part", preprocessed)
    return Case("cc1plus",
                [cc1plus_path, "-quiet", "-std=c++20", "-O0", "-fpreprocessed", preprocessed, "-o", "/dev/null"])


PYTHON_WORK = """
import json, re
words = ["w%d" % (i * 7919 % 5003) for i in range(60000)]
counts = {}
for word in words:
    counts[word] = counts.get(word, 0) + 1
table = [{"id": i, "name": w, "tags": [w[:2], str(i)]} for i, w in enumerate(words)]
text = json.dumps(table)
back = json.loads(text)
found = sum(1 for row in back if re.match(r"w\\d*7$", row["name"]))
class Node:
    def __init__(self, key): self.key, self.left, self.right = key, None, None
def insert(root, key):
    while True:
        side = "left" if key < root.key else "right"
        child = getattr(root, side)
        if child is None:
            setattr(root, side, Node(key)); return
        root = child
root = Node(30011)
for i in range(30000): insert(root, i * 7919 % 60013)
print(len(counts), len(text), found)
"""


def python3(folder: str) -> Optional[Case]:
    if not (tool := program("python3")):
        return None
    return Case("python3", [tool, "-S", "-E", generated(f"{folder}/work.py", lambda out: out.write(PYTHON_WORK))])


def python3_malloc(folder: str) -> Optional[Case]:
    if not (case := python3(folder)):
        return None
    # -E would make the interpreter ignore the variable.
    return Case("python3 malloc", [argument for argument in case.command if argument != "-E"],
                environment={"PYTHONMALLOC": "malloc"})


def redis(folder: str) -> Optional[Case]:
    # Debian's package redis-tools holds the server, too, under the name of its checker (one binary, many names).
    server, bench = program("redis-check-rdb"), program("redis-benchmark")
    if not server or not bench:
        return None
    link = f"{folder}/redis-server"
    if not os.path.islink(link):
        os.symlink(server, link)
    port = 21000 + os.getpid() % 10000

    def drive(between: Callable) -> str:
        deadline = time.monotonic() + 30
        while True:
            between()
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise RuntimeError("redis-server does not answer") from None
                time.sleep(0.02)
        start = time.perf_counter()
        command = [bench, "-h", "127.0.0.1", "-p", str(port), "-q", "-n", "60000", "-P", "16", "-r", "20000", "-d",
                   "200", "-t", "set,get,lpush,sadd,hset,zadd"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        elapsed = time.perf_counter() - start
        between()
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"SHUTDOWN NOSAVE\r\n")
        return f"{elapsed:.6f}"

    return Case("redis-server", [link, "--port", str(port), "--save", "", "--daemonize", "no", "--io-threads", "1"],
                driver=drive, measure=float)


def git_log(folder: str) -> Optional[Case]:
    if not (tool := program("git")):
        return None
    repository = f"{folder}/repository"
    if not os.path.exists(f"{repository}/.done"):
        shutil.rmtree(repository, ignore_errors=True)
        subprocess.run([tool, "init", "-q", "-b", "main", repository], check=True)
        randomness = random.Random(1)
        files = {f"src/file{i}.c": [f"line {i} {n}" for n in range(200)] for i in range(25)}
        stream = []
        for commit in range(2000):
            stream.append(f"commit refs/heads/main\ncommitter A <a@example.org> {1_700_000_000 + commit * 60} +0000\ndata 12\nChange {commit:05}")
            for name in (files if commit == 0 else randomness.sample(sorted(files), 4)):
                lines = files[name]
                for _ in range(5):
                    lines[randomness.randrange(len(lines))] = f"line {randomness.random()}"
                lines.insert(randomness.randrange(len(lines)), f"new in {commit}")
                text = "\n".join(lines) + "\n"
                stream.append(f"M 100644 inline {name}\ndata {len(text)}\n{text}")
        subprocess.run([tool, "-C", repository, "fast-import", "--quiet"], input="\n".join(stream) + "\n", text=True,
                       check=True)
        open(f"{repository}/.done", "w").close()
    return Case("git log -p",
                [tool, "--no-pager", "--git-dir", f"{repository}/.git", "log", "-p", "--no-color", "main"],
                environment={"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"})


def gdb(folder: str) -> Optional[Case]:
    tool, compiler = program("gdb"), program("g++")
    if not tool or not compiler:
        return None
    cc1plus(folder)  # writes the source
    binary = f"{folder}/heavy"
    if not os.path.exists(binary):
        subprocess.run([compiler, "-std=c++20", "-g", "-O0", f"{folder}/heavy.cc", "-o", binary, "-pthread"],
                       check=True)
    return Case("gdb", [tool, "-batch", "-nx", "-ex", "info functions use1", "-ex", "info types Tag", "-ex",
                        "info line main", binary],
                environment={"DEBUGINFOD_URLS": ""})


NODE_WORK = """
const rows = [];
for (let i = 0; i < 60000; ++i) rows.push({id: i, name: 'row ' + (i * 7919 % 60013), data: Buffer.alloc(600 + i % 7, i & 255)});
const text = JSON.stringify(rows.map(r => ({id: r.id, name: r.name})));
const back = JSON.parse(text);
const groups = new Map();
for (const row of back) { const key = row.name.slice(-2); groups.set(key, (groups.get(key) || 0) + row.id); }
let sum = 0;
for (let round = 0; round < 20; ++round) sum += rows.map(r => r.name.replace(/\\d/g, 'x').length + round).reduce((a, b) => a + b);
const pieces = [];
for (let i = 0; i < 20000; ++i) pieces.push(new Uint8Array(1000 + i % 13));
console.log(groups.size, text.length, sum, pieces.length);
"""


def node(folder: str) -> Optional[Case]:
    if not (tool := program("node")):
        return None
    return Case("node", [os.path.realpath(tool), generated(f"{folder}/work.js", lambda out: out.write(NODE_WORK))])


def xmllint(folder: str) -> Optional[Case]:
    if not (tool := program("xmllint")):
        return None

    def write_document(out):
        out.write("<?xml version='1.0'?>\n<library>\n")
        for i in range(60_000):
            out.write(f"<book id='b{i}' shelf='{i % 97}'><title>Title {i * 7919 % 60013}</title><author>Author {i % 503}</author>"
                      f"<note lang='en'>It has <em>{i % 400}</em> pages &amp; more.</note></book>\n")
        out.write("</library>\n")

    return Case("xmllint", [tool, "--noout", "--xpath", "count(//book[@shelf='13']/note/em)",
                            generated(f"{folder}/library.xml", write_document)])


def jq(folder: str) -> Optional[Case]:
    if not (tool := program("jq")):
        return None

    def write_lines(out):
        for i in range(60_000):
            out.write(f'{{"id":{i},"name":"item {i * 7919 % 60013}","tags":["t{i % 13}","u{i % 7}"],"price":{i % 1000}.25}}\n')

    return Case("jq",
                [tool, "-s", "group_by(.tags[0]) | map({t: .[0].tags[0], n: length, p: (map(.price) | add)}) | length",
                       generated(f"{folder}/items.json", write_lines)])


def documents(folder: str) -> Optional[Case]:
    return Case("documents", [f"{folder}/documents"])


def clang(folder: str) -> Optional[Case]:
    if not (tool := program("clang")) or not cc1plus(folder):  # which writes the source
        return None
    preprocessed = f"{folder}/heavy_clang.ii"
    if not os.path.exists(preprocessed):  # C++17: what Debian's clang does not know of its libstdc++ is C++20
        subprocess.run([tool, "-std=c++17", "-E", "-x", "c++", f"{folder}/heavy.cc", "-o", preprocessed + ".part"],
                       check=True)
        os.rename(preprocessed + ".part", preprocessed)
    return Case("clang", [os.path.realpath(tool), "-cc1", "-O1", "-std=c++17", "-fcxx-exceptions", "-fexceptions",
                          "-emit-obj", "-x", "c++-cpp-output", preprocessed, "-o", "/dev/null"])


TORCH_WORK = """
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[layer for _ in range(6) for layer in (torch.nn.Linear(128, 128), torch.nn.ReLU())])
optimizer = torch.optim.Adam(model.parameters())
for step in range(150):
    loss = (model(torch.randn(32, 128)) - 1).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
print(loss.item() < 10)
"""


def torch(folder: str) -> Optional[Case]:
    tool = program("python3")
    if not tool or subprocess.run([tool, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        return None
    return Case("torch", [tool, generated(f"{folder}/train.py", lambda out: out.write(TORCH_WORK))])


def churn(folder: str) -> Optional[Case]:
    return Case("churn", [f"{folder}/churn"])


def hoard(folder: str) -> Optional[Case]:
    return Case("hoard, 4 threads", [f"{folder}/hoard", "4", "3350000"])


def stress(folder: str) -> Optional[Case]:
    return Case("stress, 4 threads", [f"{folder}/stress", "4", "1000000"])


def tight(depth: int, threaded: bool) -> Callable:
    def case(folder: str) -> Optional[Case]:
        name = f"pair at depth {depth}" + (", stamped" if threaded else "")
        pairs = "6000000" if depth < 60 else "4000000"
        return Case(name, [f"{folder}/tight", str(depth), pairs] + (["--threaded"] if threaded else []), measure=float,
                    unit="ns")

    return case


def producers(threads: int) -> Callable:
    def case(folder: str) -> Optional[Case]:
        return Case(f"pairs of {threads} threads at depth 30",
                    [f"{folder}/tight", "30", "8000000", "--threads", str(threads)], measure=float, unit="ns")

    return case


def forks(lives: bool) -> Callable:
    def case(folder: str) -> Optional[Case]:
        return Case("first malloc of a forked child" + (", another lives" if lives else ""),
                    [f"{folder}/forks", "300"] + (["lives"] if lives else []),
                    measure=float, unit="µs")

    return case


CASES = [sqlite3, cc1plus, python3, python3_malloc, redis, git_log, gdb, node, xmllint, jq, documents, clang,
         torch, churn, hoard, stress,
         *(tight(depth, threaded) for threaded in (False, True) for depth in (10, 30, 60)),
         *(producers(threads) for threads in (2, 4, 8, 16)),
         forks(False), forks(True)]
