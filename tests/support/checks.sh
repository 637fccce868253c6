# Helpers for test scripts (sourced by run_script.sh). A failed check prints what was expected and ends the script.

fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "SKIP: $*" >&2; exit 77; }

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
expect_not_in() { ! grep -qF -- "$2" "$1" || { cat "$1" >&2; fail "'$2' is in $1"; }; }

# json FILE EXPRESSION: a value of a profile, by jq
json() { jq -r "$2" "$1"; }
