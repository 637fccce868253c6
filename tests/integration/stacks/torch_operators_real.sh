# Operators of a real PyTorch: those inside of a range are what PyTorch's own profiler counts in it; functions of the
# backward pass stand with their operators; worker processes and threads have theirs.
"$PYTHON" -c 'import torch' 2>/dev/null || skip "no PyTorch here"
cat >train.py <<'PY'
import collections, json, threading, torch
from torch.utils.data import DataLoader
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 10))
optimizer = torch.optim.Adam(net.parameters())

def step(batch):
    loss = net(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def profiled():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        with torch.profiler.record_function("measured"):
            for batch in DataLoader(torch.randn(24, 1, 8, 8), batch_size=8):
                step(batch)
    # As they came: its tables leave out an operator that is the only one inside of one of its name.
    events = profiler.profiler.kineto_results.events()
    measured = next(event for event in events if event.name() == "measured")
    def span(event):
        if hasattr(event, "start_ns"):  # since 2.3
            return event.start_ns(), event.start_ns() + event.duration_ns()
        return event.start_us(), event.start_us() + event.duration_us()
    start, end = span(measured)
    return collections.Counter(event.name() for event in events if start <= span(event)[0] <= end)

def fails():
    try:
        with torch.profiler.record_function("failing"):
            torch.ones(3) @ torch.ones(4)
    except RuntimeError:
        pass

step(torch.randn(8, 1, 8, 8))
counts = profiled()
fails()
threads = [threading.Thread(target=step, args=(torch.randn(8, 1, 8, 8),)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for batch in DataLoader(torch.randn(24, 1, 8, 8), batch_size=8, num_workers=2):
    step(batch)
print(json.dumps(counts))
PY
export OMP_NUM_THREADS=1
expect_status 0 "$HEAPPROF_BIN" run -q --torch-ops -o profile.json -- "$PYTHON" train.py
tail -n 1 out.txt >counts.json
check_profile profile*.json
expect_complete
"$PYTHON" - <<'PY' || fail "operators are not those of PyTorch's own profiler"
import collections, json
counts = json.load(open("counts.json"))
scopes = json.load(open("profile.json"))["heapprof"]["scopes"]["scopes"]
inside, got, open_at_end = {0: False}, collections.Counter(), []
for place, scope in enumerate(scopes, 1):
    inside[place] = inside[scope["parent"]] or scope["name"] == "measured"
    if inside[place]:
        got[scope["name"]] += scope["begun_count"]
    if scope["ended_count"] != scope["begun_count"]:
        open_at_end.append(scope["name"])
wrong = {name: (counts.get(name), got[name]) for name in counts.keys() | got.keys() if got[name] != counts.get(name)}
assert not wrong and not open_at_end and len(counts) > 20, (wrong, open_at_end)
works = {scope["name"]: {work["operator"].split(" > ")[-1] for work in scope["backward_of"]} for scope in scopes if "backward_of" in scope}
assert works["AddmmBackward0"] == {"aten::addmm"} and works["ReluBackward0"] == {"aten::relu"}, works
assert works["ConvolutionBackward0"] == {"aten::convolution"}, works
assert any(scope["name"] == "failing" and scope["ended_count"] == 1 for scope in scopes)
PY
expect_eq "processes with operators" "$(for file in profile*.json; do json "$file" '[.heapprof.scopes.scopes[]? | select(.is_operator)] | length > 0'; done | grep -c true)" 3
