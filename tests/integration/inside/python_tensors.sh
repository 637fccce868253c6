# heapprof.snapshot(tensors=True): what each role has is what the program computes itself, to the byte; what Python does
# not see is the rest; the largest have their names and shapes; and odd tensors, threads, forks and kills harm nobody.
"$PYTHON" -c 'import torch' 2>/dev/null || skip "no PyTorch here"
export PYTHONPATH=$SOURCE/shared/python OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
cat >train.py <<'PY'
import gc, json, os, signal, sys
import heapprof
if len(sys.argv) > 1 and sys.argv[1] == "without":
    try:
        heapprof.snapshot("early", tensors=True)
    except RuntimeError as error:
        print(error)
    assert "torch" not in sys.modules
    heapprof.snapshot("plain")
    sys.exit()
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(300, 500), torch.nn.Linear(500, 7)
        self.norm = torch.nn.LayerNorm(500)
        self.register_buffer("mean", torch.zeros(300))
    def forward(self, x):
        return self.second(self.norm(torch.relu(self.first(x - self.mean))))

net = Net()
optimizer = torch.optim.Adam(net.parameters())
batch = torch.randn(64, 300)
view = batch[3:5]
net(batch).sum().backward()
optimizer.step()
kept = net(batch)
bytes_of = lambda tensors: sum(tensor.numel() * tensor.element_size() for tensor in tensors)
parameters = list(net.parameters())
# What is saved for the backward pass: PyTorch keeps the objects of those that Python has seen.
hidden = 2 * 64 * 500 * 4      # the outputs of relu and of the norm
difference = 64 * 300 * 4      # the first layer's input, which has no history
unseen = 2 * 64 * 4            # the norm's means and deviations, which Python has never seen
expected = {
    "weights": bytes_of(parameters) + bytes_of([net.mean]),
    "gradients": bytes_of(parameter.grad for parameter in parameters),
    "optimizer state": bytes_of(value for state in optimizer.state.values() for value in state.values()),
    "activations": bytes_of([kept]) + hidden,
    "inputs and other data": bytes_of([batch]) + difference,
}

class Odd(torch.Tensor):
    @property
    def device(self):
        raise ValueError("not for you")
class Liar:
    @property
    def __class__(self):
        raise ValueError("nor for you")
odd = [torch.ones(9).as_subclass(Odd), Liar(), torch.empty(5, device="meta"), torch.empty(0),
       torch.quantize_per_tensor(torch.ones(8), 0.5, 0, torch.quint8), torch.nn.UninitializedParameter()]
sparse = torch.sparse_coo_tensor([[0, 1]], [3.0, 4.0], (2,))
# What lies below the odd one, the quantized one, and the two parts of the sparse one.
expected["inputs and other data"] += 9 * 4 + 8 + 2 * 8 + 2 * 4
gc.collect()
counts = heapprof.snapshot("trained", tensors=True)
print(json.dumps([expected, counts, unseen]))
sys.stdout.flush()
if len(sys.argv) > 1:
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == "fork":
        if os.fork() == 0:
            more = torch.ones(1000)
            heapprof.snapshot("child", tensors=True)
            os._exit(0)
        os.wait()
    if sys.argv[1] == "threads":
        import threading
        def make():
            for i in range(300):
                torch.ones(1000 + i) + 1
        threads = [threading.Thread(target=make) for _ in range(3)]
        for thread in threads: thread.start()
        for i in range(20): heapprof.snapshot(f"among {i}", tensors=True)
        for thread in threads: thread.join()
PY
cat >check.py <<'PY'
import collections, json, sys
expected, counts, rest = json.loads(open("out.txt").readlines()[0])
snapshot = next(s for s in json.load(open("snapshots.json"))["snapshots"] if s["name"] == "trained")
(host,) = snapshot["tensors"]
got = {role["role"]: role["live_bytes"] for role in host["roles"]}
assert host["device"] == "host" and got == expected, (got, expected)
assert counts == {"cpu": expected}, counts
assert host["rest_bytes"] == rest, (host["rest_bytes"], rest)
names = [tensor["name"] for tensor in host["largest"]]
assert names[0] == "first.weight float32 [500, 300]" or "first.weight" in names[0], names
assert any("Adam exp_avg of first.weight float32 [500, 300]" == name for name in names), names
assert any("first.weight.grad float32 [500, 300]" == name for name in names), names
assert sorted((t["size_bytes"] for t in host["largest"]), reverse=True) == [t["size_bytes"] for t in host["largest"]]
PY
for how in "" kill fork threads; do
  # shellcheck disable=SC2086  # no word where there is none
  expect_status "$([ "$how" = kill ] && echo 137 || echo 0)" "$HEAPPROF_BIN" run -q -o profile.json -- "$PYTHON" train.py $how
  check_profile profile*.json
  "$HEAPPROF_BIN" report --snapshots --format json profile.json >snapshots.json
  "$PYTHON" check.py || fail "tensors ${how:-alone}: the roles are not the program's own"
  rm -f profile.*.json
done
"$HEAPPROF_BIN" report profile.json >report.txt
expect_said report.txt 'TENSORS host at "among 19"'
expect_said report.txt "optimizer state"
"$HEAPPROF_BIN" report --snapshots --between 1..1 profile.json >report.txt
expect_said report.txt 'TENSORS host at "trained"'
expect_said report.txt "that Python does not know"
expect_said report.txt "first.weight float32 [500, 300]"
"$HEAPPROF_BIN" export -q --format dhat -o again.json profile.json
expect_eq "tensors, read and written" "$(jq -cS '[.heapprof.snapshots.snapshots[].tensors]' again.json)" \
  "$(jq -cS '[.heapprof.snapshots.snapshots[].tensors]' profile.json)"
"$HEAPPROF_BIN" diff "profile.json@trained" "profile.json@among 3" >/dev/null

# Without PyTorch it says so; without tensors it is a snapshot like any other, though no --interval was asked for.
expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json -- "$PYTHON" train.py without
expect_said out.txt "needs PyTorch"
expect_eq "snapshots" "$(json profile.json '[.heapprof.snapshots.snapshots[].name] | join(" ")')" plain
expect_eq "marks" "$(json profile.json '[.heapprof.scopes.marks[].name] | join(" ")')" plain
# Without the profiler nothing is done, and nothing is in its way.
expect_status 0 "$PYTHON" train.py
expect_eq "what is told without the profiler" "$(jq -c '.[1]' out.txt)" null
