# What a script asks its interpreter for: without names the setting that brings them, with it the script's function as
# the place.
tried=
cat >rows.js <<'JS'
function makeRows(n) { const rows = []; for (let i = 0; i < n; i++) rows.push(Buffer.alloc(16384, i)); return rows; }
function loadTable() { return makeRows(1000); }
console.log(loadTable().length);
JS
# The place that has most of the peak, and its callers.
first_place() { "$HEAPPROF_BIN" report --top 1 "$1" 2>err.txt | grep -A2 '^PEAK host' | tail -2 | tr -s ' \n' ' '; }

if have node && node -e 'process.exit(0)' 2>/dev/null; then
  tried=node
  "$HEAPPROF_BIN" run -q -o bare.json -- node rows.js >out.txt || fail "node fails"
  first_place bare.json >place.txt
  expect_not_in place.txt "makeRows"
  expect_in err.txt "[HP097]"
  expect_not_in err.txt "unwind-tables"
  expect_said err.txt "of the host peak is asked for by JavaScript functions without names"
  expect_not_in err.txt "end early"
  # The command is pasted as it stands.
  command=$(sed -n 's/^  fix: *\(NODE_OPTIONS=.*\)/\1/p' err.txt)
  expect_in err.txt "heapprof run -- node rows.js"
  command=${command/heapprof run/\"\$HEAPPROF_BIN\" run -q -o named.json}
  eval "$command" >out.txt || fail "node fails with '$command'"
  check_profile named.json
  first_place named.json >place.txt
  expect_in place.txt "JS:makeRows"
  expect_in place.txt "rows.js:1"
  expect_in place.txt "JS:loadTable"
  expect_not_in err.txt "[HP097]"
  rm -f "/tmp/perf-$(jq .heapprof.run.pid named.json).map"
fi

# A program that asks for memory by itself, beside a node that it starts: no hint in its own profile.
"$HEAPPROF_BIN" run -q -o own.json -- "$TARGETS/leaky"
"$HEAPPROF_BIN" report own.json >/dev/null 2>err.txt
expect_not_in err.txt "[HP097]"
expect_not_in err.txt "[HP039]"

# Nor is one that makes code by itself an interpreter because it is called like one.
for name in node python3.12 ruby; do
  cp "$TARGETS/jit" "./$name"
  "$HEAPPROF_BIN" run -q -o own.json -- "./$name" 100 nameless
  "$HEAPPROF_BIN" report own.json >/dev/null 2>err.txt
  expect_not_in err.txt "[HP097]"
  expect_in err.txt "stacks end early"
done

if have java && have javac; then
  tried="$tried java"
  cat >Rows.java <<'JAVA'
import java.nio.ByteBuffer;
import java.util.ArrayList;
public class Rows {
  static ArrayList<ByteBuffer> kept = new ArrayList<>();
  static void makeRow(int i) { kept.add(ByteBuffer.allocateDirect(4096)); }
  public static void main(String[] arguments) {
    for (int i = 0; i < 20000; ++i) makeRow(i);
    System.out.println(kept.size());
  }
}
JAVA
  if javac Rows.java 2>err.txt; then
    "$HEAPPROF_BIN" run -q -o bare.json -- java -Xcomp -cp . Rows >out.txt 2>err.txt || fail "java fails: $(cat err.txt)"
    first_place bare.json >place.txt
    expect_in err.txt "[HP097]"
    expect_in err.txt "-XX:+PreserveFramePointer"
    command=$(sed -n 's/^  fix: *\(JAVA_TOOL_OPTIONS=.*\)/\1/p' err.txt)
    command=${command/heapprof run/\"\$HEAPPROF_BIN\" run -q -o named.json}
    eval "$command" >out.txt 2>err.txt || fail "java fails with '$command': $(cat err.txt)"
    first_place named.json >place.txt
    expect_in place.txt "Rows."  # main, where makeRow is inlined into it
    rm -f "/tmp/perf-$(jq .heapprof.run.pid named.json).map"
  fi
fi
[ -n "$tried" ] || skip "neither node nor java is here"
