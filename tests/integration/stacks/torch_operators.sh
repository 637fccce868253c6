# Operators of PyTorch as scopes (--torch-ops): each path's begins and memory, and which function of the backward pass
# worked for which operator, are as the program's own books say, in every form in which PyTorch has told of them; the
# program's own profiler is told what it is told without us.
cat >books.py <<'PY'
import json, sys
profile = json.load(open(sys.argv[1]))["heapprof"]
scopes = profile["scopes"]["scopes"]
paths = []
def mapped(memory):
    return next(([m["allocated_count"], m["allocated_bytes"]] for m in memory if m["device"] == "mapped"), [0, 0])
lines = []
for scope in scopes:
    path = (paths[scope["parent"] - 1] + " > " if scope["parent"] else "") + scope["name"]
    paths.append(path)
    assert scope.get("is_operator", False) == ("::" in scope["name"]), scope["name"]
    assert scope["ended_count"] == scope["begun_count"], path
    lines.append("scope %s %d %d %d" % (path, scope["begun_count"], *mapped(scope["memory"])))
    for work in scope.get("backward_of", []):
        lines.append("backward %s of %s %d %d %d" % (path, work["operator"], work["begun_count"], *mapped(work["memory"])))
print("\n".join(sorted(lines)))
PY
compare() {  # WHAT: the profile and the books in out.txt
  grep -v '^seen' out.txt | LC_ALL=C sort >expected.txt
  "$PYTHON" books.py profile.json | LC_ALL=C sort >got.txt || fail "$1: the scopes break a rule"
  cmp expected.txt got.txt || { diff expected.txt got.txt | head -n 5 >&2; fail "$1: the books differ"; }
  grep -c '^backward' got.txt >/dev/null || fail "$1: no function of the backward pass has its operator"
}
for form in 1 2 3 4 5 6; do
  "$TARGETS/torch_operators" $form $form 3 >plain.txt || fail "form $form without heapprof: $?"
  expect_status 0 "$HEAPPROF_BIN" run -q --torch-ops -o profile.json -- "$TARGETS/torch_operators" $form $form 3
  check_profile profile.json
  expect_complete
  cmp plain.txt out.txt || fail "form $form: the program's own books differ under heapprof"
  compare "form $form"
  # Without the option its own profiler gets the same, and there are no scopes.
  expect_status 0 "$HEAPPROF_BIN" run -q -o without.json -- "$TARGETS/torch_operators" $form $form 3
  cmp plain.txt out.txt || fail "form $form: the program's own books differ without --torch-ops"
  expect_eq "scopes without --torch-ops" "$(json without.json '.heapprof.scopes')" null
done
for how in throw elsewhere; do
  "$TARGETS/torch_operators" 5 7 2 $how >plain.txt
  expect_status 0 "$HEAPPROF_BIN" run -q --torch-ops -o profile.json -- "$TARGETS/torch_operators" 5 7 2 $how
  cmp plain.txt out.txt || fail "$how: the program's own books differ under heapprof"
  check_profile profile.json
  compare "$how"
done
expect_status 0 "$HEAPPROF_BIN" run -q --torch-ops --clock=sequence -o profile.json -- "$TARGETS/torch_operators" 1 8 1
compare "without a clock"
expect_status 137 "$HEAPPROF_BIN" run -q --torch-ops -o profile.json -- "$TARGETS/torch_operators" 5 9 4 kill
check_profile profile.json
compare "killed"

# It is the same when it was read and written, and when two are added.
"$HEAPPROF_BIN" export -q --format dhat -o again.json profile.json
expect_eq "operators, read and written" "$("$PYTHON" books.py again.json)" "$("$PYTHON" books.py profile.json)"
"$HEAPPROF_BIN" merge -q -o twice.json profile.json again.json
expect_eq "backward work of two" "$(json twice.json '[.heapprof.scopes.scopes[].backward_of // [] | .[].begun_count] | add')" \
  "$(json profile.json '[.heapprof.scopes.scopes[].backward_of // [] | .[].begun_count] | add * 2')"

# What is for an operator stands with it.
"$HEAPPROF_BIN" report --scopes profile.json >report.txt
expect_said report.txt "OPERATORS of PyTorch"
COLUMNS=50 "$HEAPPROF_BIN" report --scopes profile.json >report.txt
expect_in report.txt "    t0::linear"  # on a line of its own, and whole
"$HEAPPROF_BIN" report --scopes --format json profile.json >report.json
expect_eq "memory of operators, each block once" \
  "$(jq '[.operators[] | (.memory, .backward_memory)[] | select(.device == "mapped") | .allocated_bytes] | add' report.json)" \
  "$(json profile.json '[.heapprof.scopes.scopes[] | select(.is_operator) | .memory[] | select(.device == "mapped") | .allocated_bytes] | add')"
expect_eq "functions of the backward pass that have rows of their own" "$(jq '[.operators[] | select(.operator | endswith("Back"))] | length' report.json)" 0

# Where it cannot be, that is said.
expect_status 125 "$HEAPPROF_BIN" run --torch-ops --unwinder=fp -o refused.json -- "$TARGETS/torch_operators" 1 1 1
expect_in err.txt HP238
[ ! -e refused.json ] || fail "a program was run that was to be refused"
expect_status 0 "$HEAPPROF_BIN" run --no-summary --torch-ops -o profile.json -- "$TARGETS/torch_operators" 5 1 1 deep
expect_in err.txt "44 operators of PyTorch became no scopes"
expect_eq "operators without a scope" "$(counter operators_lost_count)" 44
expect_eq "operators that have one" "$(json profile.json '[.heapprof.scopes.scopes[].begun_count] | add')" 256
# It is not asked while one of its functions may be on the stack: not where frames are missing there.
expect_status 0 timeout 300 "$HEAPPROF_BIN" run -q --torch-ops -o profile.json -- "$TARGETS/torch_locked"
expect_in out.txt "asked outside"
mkdir old
printf 'int at_work(void) { extern void* malloc(unsigned long); return malloc(10) != 0; }\n' >old.c
if have cc; then
  cc -shared -fPIC -o old/libtorch_cpu.so old.c
  printf 'int at_work(void); int main(void) { extern void* malloc(unsigned long); return !at_work() || !malloc(1); }\n' >main.c
  cc -o old_torch main.c -Lold -ltorch_cpu -Wl,-rpath,"$PWD/old"
  expect_status 0 "$HEAPPROF_BIN" run --no-summary --torch-ops -o profile.json -- ./old_torch
  expect_in err.txt HP236
fi
