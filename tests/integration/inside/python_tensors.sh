# What PyTorch's tensors are for: heapprof.snapshot(tensors=True) gives to each role the bytes that the program's own
# books say, and the profile has the same at that moment, by where they were allocated, with what Python does not know
# as the rest; with objects that lie about themselves, in threads and forked children, and in a program that is killed.
export PYTHONPATH=$SOURCE/shared/python PYTHONDONTWRITEBYTECODE=1
cat >none.py <<'PY'
import sys
import types

import heapprof

def says(what):
    try:
        return heapprof.snapshot("a", tensors=True)
    except heapprof.HeapprofError as error:
        return f"{what}: {error}"
print(says("without"))
sys.modules["torch"] = None
print(says("none"))
sys.modules["torch"] = types.ModuleType("torch")
print(says("half"))
print(heapprof.snapshot("plain"))
for wrong in (1, None):
    try:
        heapprof.snapshot(wrong)
    except TypeError:
        print("TypeError")
PY
expect_status 0 "$PYTHON" -W error none.py
expect_eq "without the profiler" "$(tr '\n' ';' <out.txt)" "None;None;None;None;TypeError;TypeError;"
profile "$PYTHON" -W error none.py
expect_eq "exit status" "$status" 0
for what in without none half; do
  expect_in out.txt "$what: tensors=True, but the program has not imported torch: import it before the snapshot"
done
expect_eq "marks" "$(json profile.json '[.heapprof.scopes.marks[].name] | join(",")')" plain

TORCH=
for python in "$PYTHON" /usr/bin/python3; do
  "$python" -c 'import torch' 2>/dev/null && TORCH=$python && break
done
[ -n "$TORCH" ] || skip "PyTorch is not installed; its absence was tried"

# The books of a program: each role's bytes and storages.
cat >model.py <<'PY'
import gc
import json
import os
import signal
import sys
import threading
import warnings
import weakref

warnings.simplefilter("ignore")  # PyTorch warns of tensors that are sparse or quantized
import torch

import heapprof

class Hides:
    @property
    def __class__(self): raise RuntimeError("no class")
    def __getattr__(self, name): raise RuntimeError("no attributes")
class Meta(type):
    __mro__ = property(lambda cls: 1 // 0)
    def __hash__(cls): raise RuntimeError("no hash")
    def __eq__(cls, other): raise RuntimeError("not equal")
    def __instancecheck__(cls, one): raise RuntimeError("no instances")
class OfMeta(metaclass=Meta): pass
class Claims:
    __class__ = torch.Tensor
class Refuses(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *arguments, **more): raise RuntimeError("no function")
class Half(torch.nn.Module):
    def __init__(self): pass  # it has none of a module's attributes

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(1235, 301)
        self.norm = torch.nn.BatchNorm1d(301)
        self.fc2 = torch.nn.Linear(301, 17)
        self.tied = self.fc2
    def forward(self, x):
        return self.fc2(torch.relu(self.norm(self.fc1(x))))

torch.manual_seed(1)
torch.set_num_threads(2)
net, apart = Net(), torch.zeros(4321, requires_grad=True)
optimizer = torch.optim.Adam([{"params": net.parameters()}, {"params": [apart]}])
x = torch.randn(64, 1235)
for _ in range(2):
    optimizer.zero_grad()
    (net(x).sum() + apart.sum()).backward()
    optimizer.step()
y = net(x)
detached, view = y.detach(), x[3:]

odd = [Hides(), OfMeta(), Claims(), weakref.proxy(net), Half()]
class Wrong(torch.optim.SGD): pass
wrong = Wrong([torch.zeros(0)], lr=1)
around = [1]
around.append(around)  # a list that is in itself
wrong.state = {1: Hides(), 2: OfMeta(), 3: around, 4: {Hides: Hides()}, 5: {"a": [weakref.proxy(net)]}}
wrong.param_groups = [{"params": Hides()}, Hides()]
odd[4].__dict__.update(_modules={1: Hides(), "b": odd[4]}, _parameters={2.5: Hides(), "c": 7}, _buffers=OfMeta())
meta = torch.ones(55, device="meta")
empty = torch.ones(77)
empty.storage().untyped().resize_(0)
unreadable = torch.ones(10, 10).to_mkldnn()
sparse = torch.sparse_coo_tensor([[0, 1, 2], [1, 0, 3]], [1., 2., 3.], (1000, 1000))
quantized = torch.quantize_per_tensor(torch.randn(1001), .1, 0, torch.qint8)
refuses = torch.ones(2003).as_subclass(Refuses)
more = [sparse._indices(), sparse._values(), quantized]

def books():
    trained = list(net.parameters()) + [apart]
    roles = {
        "weights": trained + list(net.buffers()),
        "gradients": [one.grad for one in trained],
        "optimizer state": [v for state in optimizer.state.values() for v in state.values()],
        "inputs and other data": [x] + more,
        "activations": [y],
    }
    sums = {role: [sum(one.storage().nbytes() for one in ones), len(ones)] for role, ones in roles.items()}
    sums["inputs and other data"][0] += 2003 * 4  # what refuses
    sums["inputs and other data"][1] += 1
    # What fc1 and relu gave passed through Python, and is kept for the backward pass: Python has them still. What norm
    # gave is gone, and what it keeps for itself no Python has seen.
    sums["activations"][0] += 2 * 64 * 301 * 4
    sums["activations"][1] += 2
    return sums

def say(what):
    want = books()
    found = heapprof.snapshot("after step 2", tensors=True)
    got = {role: list(one) for role, one in found.devices["cpu"].items()}
    assert got == want, (got, want)
    assert found.unreadable == 1 and list(found.devices) == ["cpu"] and found.untold_bytes == {}, found
    first = found.largest[0]
    assert len(found.largest) == 10 and first.bytes == 4 * 1235 * 301 and first.shape == (301, 1235), first
    names = {one.name for one in found.largest}
    assert {"fc1.weight", "fc1.weight.grad", "Adam exp_avg of fc1.weight"} <= names, names
    assert 'TENSORS at "after step 2"' in str(found) and "1 tensor did not say" in str(found), str(found)
    if what == "keep":
        print(json.dumps(want))
        sys.stdout.flush()

what = sys.argv[1]
if what == "keep":
    # Nothing is kept alive, and looking again gives the same.
    gone = weakref.ref(view)
    view = None
    say("keep")
    assert gone() is None
    say("again")
    before = heapprof.stats()
    say("again")
    after = heapprof.stats()
    assert abs(after.live_bytes - before.live_bytes) < 100_000, (before, after)
    child = os.fork()
    if child == 0:
        say("child")
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    os.kill(os.getpid(), signal.SIGKILL)  # what is live stays in the profile as it is now
else:
    stop = threading.Event()
    def work():
        kept = []
        while not stop.is_set():
            a = torch.ones(97, requires_grad=True)
            kept = kept[-20:] + [(a * 2).relu(), torch.nn.Linear(3, 5)]
            kept[-1](torch.ones(1, 3)).sum().backward()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for one in threads:
        one.start()
    for _ in range(20):
        found = heapprof.snapshot("amid others", tensors=True)
        have = {role: one.bytes for role, one in found.devices["cpu"].items()}
        assert all(have[role] >= size for role, (size, _) in books().items()), have
    stop.set()
    for one in threads:
        one.join()
    print("done")
PY
status=0
"$HEAPPROF_BIN" run -o p%p.json -- "$TORCH" model.py keep >out.txt 2>err.txt || status=$?
[ "$status" = 137 ] || head -n 20 err.txt >&2
expect_eq "exit status" "$status" 137
[ -s out.txt ] || { cat err.txt >&2; fail "the program's books are not those of the snapshot"; }
count=0
for file in p[0-9]*.json; do
  check_profile "$file"
  "$HEAPPROF_BIN" report --snapshots --format json "$file" >snapshots.json
  # Of the child's tensors those are its parent's that were there before it: its own ledger has none of them.
  if [ "$(json "$file" '.heapprof.run.status')" = 7 ]; then
    [ "$(json snapshots.json '.snapshots[0].lost_tensors_count')" -ge 43 ] || fail "the child's ledger knows the tensors of its parent"
    continue
  fi
  count=$((count + 1))
  expect_end signaled 9 "$file"
  # The ledger joins each address with its block: the same bytes and blocks, in each role. What the norm keeps of a
  # batch for itself, its means and deviations, is the rest; and so is what does not tell where its memory is.
  for at in 0 1 2; do
    expect_eq "bytes and blocks by role" "$(jq -cS "[.snapshots[$at].tensors[] | select(.device == \"host\") | .roles[] | {(.role): [.live_bytes, .live_count]}] | add" snapshots.json)" "$(jq -cS . out.txt)"
    expect_eq "tensors where nothing was live" "$(json snapshots.json ".snapshots[$at].lost_tensors_count")" 0
  done
  expect_eq "the largest tensor" "$(json snapshots.json '.snapshots[0].tensors[0].largest[0] | [.size_bytes, .role, .name] | join(", ")')" "$((4 * 1235 * 301)), weights, fc1.weight float32 [301, 1235]"
  [ "$(json snapshots.json '.snapshots[0].tensors[0].rest_bytes')" -ge $((2 * 301 * 4)) ] || fail "what the norm keeps is nowhere"
  expect_eq "marks" "$(json "$file" '[.heapprof.scopes.marks[].name] | unique | join(",")')" "after step 2"
  "$HEAPPROF_BIN" report "$file" >report.txt
  expect_said report.txt 'TENSORS host at "after step 2"'
  expect_said report.txt "fc1.weight.grad float32 [301, 1235]"
  expect_said report.txt "that Python does not know"
  "$HEAPPROF_BIN" export -q --format dhat -o again.json "$file"
  expect_eq "tensors, read and written" "$(jq -cS '[.heapprof.snapshots.snapshots[].tensors]' again.json)" \
    "$(jq -cS '[.heapprof.snapshots.snapshots[].tensors]' "$file")"
done
expect_eq "profiles of the killed program" "$count" 1

profile "$TORCH" model.py threads
expect_eq "exit status amid others" "$status" 0
expect_eq "what it says" "$(tail -n 1 out.txt)" "done"
expect_complete
