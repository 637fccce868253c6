# The examples for CI services: their shell steps are run as the services would, in a small project, on a good commit,
# on the next, and on one with a regression; what they keep is there, and names the culprit.
export LC_ALL=C.UTF-8
unset COLUMNS
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY GITHUB_SHA CI_COMMIT_SHA
"$PYTHON" -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
for tool in curl make g++; do have $tool || skip "$tool is not installed"; done
expect_status 0 cmake --install "$BUILD" --strip --prefix "$PWD/package/heapprof-0"
tar -czf heapprof.tar.gz -C package heapprof-0
export HEAPPROF_URL=file://$PWD/heapprof.tar.gz HOME=$PWD/home
mkdir home

project() {
  mkdir -p "$1/src"
  cp "$SOURCE/examples/ci/heapprof.toml" "$1"
  printf 'app: src/app.cc\n\t$(CXX) $(CXXFLAGS) -o $@ $<\n' >"$1/Makefile"
  cat >"$1/src/app.cc" <<'CODE'
#include <string>
#include <vector>

using Rows = std::vector<std::string>;

__attribute__((noinline)) Rows read_rows() { return Rows(1000, std::string(1000, 'x')); }
__attribute__((noinline)) Rows twice(const Rows& rows) {
  Rows copy = rows;
  copy.insert(copy.end(), rows.begin(), rows.end());
  return copy;
}
int main() {
  const Rows rows = read_rows();
#ifdef PLANTED
  return twice(rows).size() == 2000 ? 0 : 1;
#else
  return rows.size() == 1000 ? 0 : 1;
#endif
}
CODE
}

# service FOLDER: its steps there, each in a shell of its own; $status is that of the first that fails. On GitHub a
# step's additions to GITHUB_PATH count for the next.
service() {
  status=0
  for step in $(ls "$PWD/$1-steps"/*.sh | sort -V); do
    (cd "$1" && PATH=$(tr '\n' ':' <"$GITHUB_PATH")$PATH bash --noprofile --norc -eo pipefail "$step") >"$1/log.txt" 2>&1 || { status=$?; break; }
  done
}
kept_files() { while read -r pattern; do ls $1/$pattern >/dev/null 2>&1 || fail "$1: $pattern is not there: $(cat "$1/log.txt")"; done <"$1-steps/artifacts"; }

for name in github gitlab; do
  mkdir $name-steps
  expect_status 0 "$PYTHON" "$SOURCE/tests/support/ci_steps.py" $name "$SOURCE/examples/ci/$name.yml" "$PWD/$name-steps"
  export GITHUB_PATH=$PWD/$name-path GITHUB_STEP_SUMMARY=$PWD/$name-summary.md
  : >"$GITHUB_PATH"
  [ $name = gitlab ] || export GITHUB_ACTIONS=true
  [ $name = github ] || unset GITHUB_ACTIONS
  project $name
  for commit in 1 2; do
    export GITHUB_SHA=c0ffee$commit CI_COMMIT_SHA=c0ffee$commit
    rm -rf home/heapprof
    service $name
    expect_eq "status of $name, commit $commit, $(cat $name/log.txt)" "$status" 0
  done
  expect_in $name/log.txt "baseline: median of 1 run"
  sed -i '1i #define PLANTED' $name/src/app.cc
  export GITHUB_SHA=bad CI_COMMIT_SHA=bad
  service $name
  expect_eq "status of $name with a copy planted, $(cat $name/log.txt)" "$status" 1
  kept_files $name
  expect_eq "history of $name" "$(jq -r '"\(.commit) \(.ok)"' $name/heapprof.jsonl | tr '\n' ';')" "c0ffee1 true;c0ffee2 true;bad false;"
  check_profile $name/heapprof.check.app.json
  "$PYTHON" - $name/heapprof.xml <<'PY' || fail "JUnit says something else"
import sys, xml.etree.ElementTree as tree
failures = tree.parse(sys.argv[1]).getroot().findall("testsuite/testcase/failure")
assert failures and "twice holds" in failures[0].get("message"), [failure.get("message") for failure in failures]
PY
done
grep -q '^::error file=src/app.cc,line=[0-9]*,title=heapprof app::host peak .* twice holds' github/log.txt || fail "no annotation: $(cat github/log.txt)"
expect_in github-summary.md "### heapprof: app: 3 of 4 limits exceeded"
expect_in github-summary.md "If this growth is meant"
jq -e '.runs[0].results | length > 0' github/heapprof.sarif >/dev/null || fail "SARIF has no result"
expect_eq "code quality" "$(jq -r '.[0].location.path' gitlab/heapprof.quality.json)" src/app.cc
expect_in gitlab/heapprof.metrics.txt 'heapprof_check_ok{budget="app"} 0'

# The README shows the step that matters, as the file has it.
grep -qF "$(grep -o 'heapprof check --budget.*' "$SOURCE/examples/ci/github.yml")" "$SOURCE/README.md" || fail "README.md shows another step than examples/ci/github.yml"
for file in github gitlab; do expect_in "$SOURCE/README.md" "examples/ci/$file.yml"; done
