# Programs that are in order, as they are on every machine, have no findings: what they keep to their end they keep on
# purpose, through wrappers that have no names.
export LC_ALL=C.UTF-8

# silent NAME COMMAND…: no profile of the command's processes has a finding
silent() {
  local name=$1 profile found
  shift
  command -v "$1" >found.txt || { not_tried "$1 is not here"; return 0; }
  rm -f ./run.*.json
  "$HEAPPROF_BIN" run -q -o 'run.%p.json' -- "$@" >out.txt 2>err.txt || fail "$name: status $?: $(cat err.txt)"
  for profile in run.*.json; do
    found=$("$HEAPPROF_BIN" report --findings --format json "$profile" 2>/dev/null | jq -r '.findings[] | "\(.kind): \(.what)"')
    expect_eq "findings of $name, $(jq -r '.heapprof.run.command[0]' "$profile")" "$found" ""
  done
}

# A history of its own, as a test may run in a tree that has none.
git init -q history
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
  seq "$i" 31 60000 >history/numbers.txt
  cp "$SOURCE"/tests/HAZARDS.md "history/page.$i.md"
  git -C history add .
  git -C history -c user.name=test -c user.email=test@example.org -c commit.gpgsign=false commit -qm "change $i"
done
silent "git log" git -C history --no-pager log --stat -p
silent "git blame" git -C history --no-pager blame numbers.txt
silent "git status" git -C history status
silent "git rev-list" git -C history rev-list --objects --all

cat >unit.cc <<'UNIT'
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main(int argc, char** argv) {
  std::map<std::string, std::vector<int>> lines;
  for (int i = 0; i < argc; ++i) lines[argv[i]].push_back(i);
  return std::regex_match(argv[0], std::regex("a+")) && lines.empty() ? 1 : 0;
}
UNIT
# Without the assembler: it holds more and more until it writes its file, and a slow machine takes 1 s for that.
silent "g++" g++ -std=c++20 -O1 -g -S unit.cc -o unit.s
silent sort sort -r history/numbers.txt
silent bash bash -c 'for i in 1 2 3; do echo $((i * i)); done'
silent sqlite3 sqlite3 :memory: "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c
  where x < 20000) insert into t select x, 'city ' || x from c; create index i on t(b); select count(*) from t;"
silent python3 /usr/bin/python3 -c 'import json, re, ast; print(len(json.dumps(list(range(20000)))))'
