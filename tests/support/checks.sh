# Helpers for test scripts (sourced by run_script.sh). A failed check prints what was expected and ends the script.

# The system's python3 rather than a version manager's shim, which costs more than the checks do.
PYTHON=$(command -v /usr/bin/python3 || command -v python3)

fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "SKIP: $*" >&2; exit 77; }
# A part of a test that cannot be tried here, while the rest goes on; scripts/test lists these at its end.
not_tried() { echo "NOT TRIED: $*" >&2; }
# missing TOOL WHY: skips the test; fails where HEAPPROF_REQUIRE names the tool, as .ci/run does for Valgrind and
# Chromium.
missing() {
  case " ${HEAPPROF_REQUIRE:-} " in *" $1 "*) fail "$2, and HEAPPROF_REQUIRE asks for $1" ;; esac
  skip "$2"
}
have() { command -v "$1" >/dev/null 2>&1; }

# expect_eq WHAT GOT WANT
expect_eq() { [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"; }

# expect_status WANT COMMAND…: runs it, output in out.txt and err.txt
expect_status() {
  local want=$1 got=0
  shift
  "$@" >out.txt 2>err.txt || got=$?
  [ "$got" = "$want" ] || { cat out.txt err.txt >&2; fail "exit status of '$*': got $got, want $want"; }
}

# expect_in FILE TEXT (fixed string)
expect_in() { grep -qF -- "$2" "$1" || { cat "$1" >&2; fail "'$2' is not in $1"; }; }
# expect_said FILE TEXT: as expect_in, wherever a line of the file was broken (a sentence's width depends on its
# numbers)
expect_said() { tr -s ' \n' ' ' <"$1" | grep -qF -- "$2" || { cat "$1" >&2; fail "'$2' is not said in $1"; }; }
expect_not_in() { ! grep -qF -- "$2" "$1" || { cat "$1" >&2; fail "'$2' is in $1"; }; }

# wait_for SECONDS WHAT COMMAND…: until the command succeeds; the test fails with WHAT where it never does. The time is
# that of a hang: a busy machine needs longer than a quiet one.
wait_for() {
  local end=$((SECONDS + $1)) seconds=$1 what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "$what: not within $seconds s"
    sleep 0.05
  done
}
# has_lines FILE N: as many lines, or more
has_lines() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; }
# is_over PID: it is no process any more, or a zombie
is_over() { case "$(ps -o stat= -p "$1")" in '' | Z*) return 0 ;; *) return 1 ;; esac; }
# sleeps_in PID NUMBER: its first thread does, in that system call
sleeps_in() { local call && read -r call _ <"/proc/$1/syscall" && [ "$call" = "$2" ]; } 2>/dev/null

# json FILE EXPRESSION: a value of a profile, by jq
json() { jq -r "$2" "$1"; }

# ---- profiles ----

# check_profile FILE…: every rule that needs no knowledge of the program; and our own reader, with its checks, takes it.
# (Where names are missing, report asks package managers for half a second: here it finds none.)
check_profile() {
  local file
  "$PYTHON" "$SOURCE/tests/support/check_profile.py" "$@" || fail "a profile breaks a rule"
  for file in "$@"; do
    PATH=/none "$HEAPPROF_BIN" report "$file" >/dev/null 2>report_err.txt || { cat report_err.txt >&2; fail "heapprof report refuses $file"; }
  done
}

# profile PROGRAM ARGS…: runs it under heapprof into profile.json; its status in $status, output in out.txt, err.txt.
# Checks the profile.
profile() {
  status=0
  rm -f profile.json
  "$HEAPPROF_BIN" run --all-processes -o profile.json -- "$@" >out.txt 2>err.txt || status=$?
  [ -f profile.json ] || { cat err.txt >&2; fail "no profile of '$*' (status $status)"; }
  check_profile profile.json
}

# pythons: the interpreters whose frames are read: the system's and the newest of pyenv's; with HEAPPROF_LONG, as
# scripts/nightly sets it, one of each version that the machine has
pythons() {
  local python
  local -a others=("${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3)
  [ -n "${HEAPPROF_LONG:-}" ] || mapfile -t others < <(printf '%s\n' "${others[@]}" | sort -V | tail -n 1)
  for python in "$PYTHON" "${others[@]}"; do
    [ -x "$python" ] && "$python" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 15))' && echo "$python"
  done
}

# sum REGEX, leaf, stacks, frames, depth: see support/sites.py; of profile.json
sum() { "$PYTHON" "$SOURCE/tests/support/sites.py" "${2:-profile.json}" sum "$1"; }
leaf() { "$PYTHON" "$SOURCE/tests/support/sites.py" "${2:-profile.json}" leaf "$1"; }
stacks() { "$PYTHON" "$SOURCE/tests/support/sites.py" "${2:-profile.json}" stacks "$1"; }
frames() { "$PYTHON" "$SOURCE/tests/support/sites.py" "${2:-profile.json}" frames "$1"; }
depth() { "$PYTHON" "$SOURCE/tests/support/sites.py" "${2:-profile.json}" depth "$1"; }

# expect_sum REGEX "BYTES BLOCKS LEAKED_BYTES LEAKED_BLOCKS" [FILE]
expect_sum() { expect_eq "bytes, blocks, leaked bytes, leaked blocks of '$1'" "$(sum "$1" "${3:-profile.json}")" "$2"; }

# counter NAME [FILE]: one of the profile's counters, "lost_count"
counter() { jq -r ".heapprof.counters.$1" "${2:-profile.json}"; }

# expect_complete [FILE]: nothing lost, nothing unexplained
expect_complete() {
  expect_eq "what is not as it should be" "$(json "${1:-profile.json}" '.heapprof | [(select(.run.complete | not) | "incomplete"),
    (.counters | to_entries[] | select(.value != 0 and (.key | IN("lost_count", "foreign_frees_count", "unseen_frees_count",
      "truncated_stacks_count", "corrupt_records_count", "modules_lost_count"))) | "\(.key) \(.value)")] | join(", ")')" ""
}

# expect_end KIND STATUS [FILE]: how the program ended, as the profile has it
expect_end() { expect_eq "end" "$(json "${3:-profile.json}" '.heapprof.run | "\(.end) \(.status)"')" "$1 $2"; }

# line_of FILE MARK: number of the line of a source file that holds the mark
line_of() { grep -nF -- "$2" "$1" | head -1 | cut -d: -f1; }
