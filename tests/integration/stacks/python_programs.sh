# Python as it is met: processes made by fork, spawn and a fork server, virtual environments, an interpreter that a
# program loads later, subinterpreters, versions whose frames are not known, and --no-python.
export PYTHONDONTWRITEBYTECODE=1
# has FILE PATTERN: one stack of the profile, from the inside out, is so
has() { stacks '^<module> ' "$1" | grep -E -- "$2" >/dev/null || { stacks '^<module> ' "$1" | tail -n 3 >&2; fail "no stack of $1 is like '$2'"; }; }

cat >pool.py <<'PY'
import multiprocessing, sys
def work(size):
    return len(bytearray(size))
def main():
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(sum(pool.map(work, [1_000_000 + i for i in range(6)], chunksize=1)))
        pool.close()
        pool.join()
if __name__ == "__main__":
    main()
PY
for method in fork spawn forkserver; do
  rm -f pool*.json
  expect_status 0 "$HEAPPROF_BIN" run -q -o pool.json -- "$PYTHON" pool.py "$method"
  expect_eq "what $method came to" "$(cat out.txt)" 6000015
  check_profile pool*.json
  workers=0
  bytes=0
  for file in pool*.json; do
    read -r more _ <<<"$(sum "^work \(.*pool\.py:3\)" "$file")"
    [ "$more" = 0 ] || { workers=$((workers + 1)); has "$file" "\bwork < .*\bmapstar < .*\bworker < .*<module>"; }
    bytes=$((bytes + more))
  done
  [ "$workers" -gt 0 ] || fail "no worker by $method has its frames"
  # A bytearray takes a byte more than was asked for.
  expect_eq "bytes of work() by $method" "$bytes" 6000021
done

cat >small.py <<'PY'
def make(size):
    return bytearray(size)
kept = make(1000000)
PY
if "$PYTHON" -m venv --without-pip env >venv.txt 2>&1; then
  profile env/bin/python small.py
  expect_eq "a virtual environment" "$(sum '^make \(.*small\.py:2\)' | cut -d' ' -f1-2)" "1000001 1"
else
  not_tried "a virtual environment: $(tail -n 1 venv.txt)"
fi

profile "$PYTHON" small.py
expect_eq "the system's" "$(sum '^make \(.*small\.py:2\)' | cut -d' ' -f1-2)" "1000001 1"
expect_status 0 "$HEAPPROF_BIN" run -q --no-python -o profile.json -- "$PYTHON" small.py
expect_eq "with --no-python" "$(sum '^make \(')" "0 0 0 0"
expect_not_in err.txt HP230

if have cc; then
  cc -g -O1 -o embeds "$SOURCE/tests/targets/stacks/python/embeds.c" -ldl || fail "the embedding program does not compile"
  tried=0
  closed=0
  for python in $(pythons); do
    library=$("$python" -c 'import sysconfig as s; print(s.get_config_var("LIBDIR"), s.get_config_var("INSTSONAME"), sep="/")')
    [ -e "$library" ] || continue
    home=$("$python" -c 'import sys; print(sys.prefix)')
    for objects in "" --python-objects; do
      # shellcheck disable=SC2086  # no word where there is none
      expect_status 0 "$HEAPPROF_BIN" run -q $objects -o profile.json -- env PYTHONHOME="$home" ./embeds "$library" "$(cat small.py)" 3
      check_profile profile.json
      expect_eq "frames of $library, loaded three times $objects" "$(sum '^make \(<string>:2\)' | cut -d' ' -f1-2)" "3000003 3"
      expect_eq "blocks after $library was closed $objects" "$(sum '^allocate_without' | cut -d' ' -f1-2)" "233100 300"
    done
    ! grep gone out.txt >/dev/null || closed=$((closed + 1))
    tried=$((tried + 1))
  done
  [ "$tried" -gt 0 ] || not_tried "an interpreter that is loaded later: no shared library of one is here"
  [ "$closed" -gt 0 ] || not_tried "an interpreter that is unloaded: dlclose keeps all that are here"
fi

cat >inner.py <<'PY'
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
def outer():
    interpreters.run_string(interpreters.create(), "def inner(n):\n    return bytearray(n)\nkept = inner(3_000_000)")
outer()
PY
for python in $(pythons); do
  minor=$("$python" -c 'import sys; print(sys.version_info[1])')
  profile "$python" inner.py
  expect_eq "status with a subinterpreter of 3.$minor" $status 0
  expect_in err.txt HP233
  [ "$minor" -lt 12 ] || expect_eq "frames of a subinterpreter of 3.$minor" "$(sum '^inner \(<string>:2\)' | cut -d' ' -f1-2)" "3000001 1"
done

for old in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/{2.7,3.7}.*/bin/python; do
  [ -x "$old" ] || { not_tried "a Python before 3.8"; continue; }
  profile "$old" small.py
  expect_eq "status of $old" $status 0
  expect_said err.txt "the frames of a Python before 3.8 cannot be read"
done
