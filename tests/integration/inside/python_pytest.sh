# The plugin for pytest: a test that takes too much fails and says how much; without the profiler, limits that were not
# checked are said, or fail.
export PYTHONPATH=$SOURCE/shared/python PYTHONDONTWRITEBYTECODE=1 PYTEST_ADDOPTS="-p no:cacheprovider --color=no" COLUMNS=120
"$PYTHON" -c 'import pytest' 2>/dev/null || skip "pytest is not installed (Debian: python3-pytest)"
plugin="-m pytest -W error -p heapprof.pytest_plugin"
cat >test_limits.py <<'PY'
import unittest

import pytest

import heapprof

kept = []

@pytest.mark.heapprof(max_peak="64MiB", max_leaked=0)
def test_within():
    bytearray(8 << 20)

@pytest.mark.heapprof(max_peak="64MiB")
def test_peak():
    bytearray(80 << 20)

@pytest.mark.heapprof(max_leaked=0)
def test_leaked():
    kept.append(bytearray(1 << 20))

@pytest.mark.heapprof(max_allocations=10, max_bytes="1kB")
def test_many():
    for _ in range(100):
        bytearray(1000)

@pytest.mark.heapprof(max_leaked=0)
def test_nothing():
    pass

@pytest.mark.heapprof(max_peak=0)
def test_raises():
    bytearray(1 << 20)
    raise RuntimeError("a failure of its own")

@pytest.mark.xfail(strict=True)
@pytest.mark.heapprof(max_peak="1kB")
def test_is_known():
    bytearray(1 << 20)

@pytest.mark.heapprof(max_peak="90MiB")
def test_begins_a_phase():
    block = bytearray(80 << 20)
    del block
    heapprof.begin_phase()

@pytest.mark.heapprof(max_peak="1MiB", device="mapped")
@pytest.mark.heapprof(max_peak="2MiB", device="host")
class TestOfClass:
    @pytest.mark.heapprof(max_peak=None)
    def test_lifted(self):
        bytearray(3 << 20)

    def test_mapped(self):
        import mmap
        with mmap.mmap(-1, 2 << 20):
            pass

class TestCase(unittest.TestCase):
    def test_of_unittest(self):
        bytearray(5 << 20)
PY
# Numbers are read and written as by the tool.
"$PYTHON" -W error - <<'PY' || fail "numbers"
from heapprof._limits import format_bytes, parse_limit

for count, text in ((0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (2061584302, "1.92 GiB"), (42142925, "40.2 MiB"),
                    (1034240, "1010 KiB"), (2**20 - 1, "1.00 MiB"), (10234, "9.99 KiB"), (10235, "10.0 KiB"),
                    (2**64 - 1, "16.0 EiB"), (-1536, "-1.50 KiB")):
    assert format_bytes(count) == text, (count, format_bytes(count))
for text, count in (("0", 0), ("17B", 17), ("1.5 KiB", 1536), ("1kB", 1000), ("2MB", 2 * 10**6), ("1EiB", 2**60), (5, 5),
                    ("none", None), (None, None)):
    assert parse_limit("max_peak", text) == count, (text, parse_limit("max_peak", text))
for text in ("", "1K", "1M", "-1", "1 ", "x", "1..5B", ".5KiB", "1kb", -1, 1.5, False, b"1B"):
    try:
        raise AssertionError((text, parse_limit("max_peak", text)))
    except ValueError:
        pass
PY
run_pytest() {  # STATUS ARGUMENTS…: under heapprof
  local want=$1
  shift
  # shellcheck disable=SC2086
  expect_status "$want" "$HEAPPROF_BIN" run -q -o profile.json -- "$PYTHON" $plugin "$@"
}
failed() { sed -n 's/^FAILED test_limits.py::\([A-Za-z_:]*\).*/\1/p' out.txt | tr '\n' ' '; }
# row TEST: its line of the (first) table, without the name
row() { grep -m 1 -E " test_limits.py::$1\$" out.txt | sed -E 's/ +test_limits.*//; s/^ +//; s/  +/ | /g'; }

run_pytest 1 --heapprof=required test_limits.py
expect_eq "what failed" "$(failed)" "test_peak test_leaked test_many test_raises TestOfClass::test_mapped "
expect_in out.txt "  host max_peak: need at most 64.0 MiB (67,108,864 B), found 80.0 MiB (83,886,081 B) above what was live at its begin"
expect_in out.txt "  host max_leaked: need at most 0 B, found 1.00 MiB (1,048,577 B) live at its end and not at its begin"
expect_in out.txt "  host max_bytes: need at most 1000 B, found 97.8 KiB (100,100 B) allocated, all in all"
expect_in out.txt "  host max_allocations: need at most 10, found 100 blocks allocated"
expect_in out.txt "  mapped max_peak: need at most 1.00 MiB (1,048,576 B), found 2.00 MiB (2,097,152 B) above"
expect_in out.txt "find all of them by heapprof report FILE"
expect_in out.txt "    80.0 MiB in 1 block"
expect_in out.txt "      test_peak  test_limits.py:$(line_of test_limits.py "80 << 20")"
expect_in out.txt "with PYTHONMALLOC=malloc"
expect_in out.txt "1 xfailed"
expect_in out.txt "heapprof: memory of tests on mapped"
expect_not_in out.txt "not checked"
expect_eq "the row of a test" "$(row test_within)" "8.00 MiB | 8.00 MiB | 0 B | 1"
expect_eq "the row of a test that does nothing" "$(row test_nothing)" "0 B | 0 B | 0 B | 0"
expect_eq "the row of a test that begins a phase" "$(row test_begins_a_phase)" "80.0 MiB | 80.0 MiB | 0 B | 1"
expect_eq "the row of a case of unittest" "$(row TestCase::test_of_unittest)" "5.00 MiB | 5.00 MiB | 0 B | 1"
grep -A 2 'memory of tests on host' out.txt | tail -n 1 | grep -q '80.0 MiB' || fail "the largest is not the first"

run_pytest 1 --heapprof-rows=2 test_limits.py -k "within or nothing or peak"
expect_eq "rows" "$(grep -cE '^ +[0-9.]+ .* test_limits.py::' out.txt)" 2
expect_in out.txt "and 1 more (--heapprof-rows=3 shows all)"

# Every object is a block of the host's here, and a test that keeps nothing still keeps nothing.
PYTHONMALLOC=malloc run_pytest 1 test_limits.py
expect_eq "what failed with PYTHONMALLOC=malloc" "$(failed)" "test_peak test_leaked test_many test_raises TestOfClass::test_mapped "
expect_in out.txt "small Python objects are on host"
expect_not_in out.txt "with PYTHONMALLOC=malloc"

# Limits for all tests: the command line's beat the ini file's, and a mark beats both.
cat >test_plain.py <<'PY'
import pytest

def test_of_all():
    bytearray(2 << 20)

@pytest.mark.heapprof(max_peak="3MiB")
def test_of_its_own():
    bytearray(2 << 20)
PY
printf '[pytest]\nheapprof_max_peak = 1MiB\n' >pytest.ini
run_pytest 1 test_plain.py
expect_in out.txt "1 failed, 1 passed"
expect_in out.txt "FAILED test_plain.py::test_of_all"
for lifted in 2.5MiB none; do
  run_pytest 0 --heapprof-max-peak=$lifted test_plain.py
done
rm pytest.ini

# Without the profiler.
# shellcheck disable=SC2086
without() { local want=$1; shift; expect_status "$want" "$PYTHON" $plugin "$@"; }
without 0 test_limits.py -k "within or peak or of_unittest"
expect_in out.txt "the limits of 2 tests were not checked: nothing is recorded of this process (to check them: heapprof run -- python3 -m pytest ...)"
expect_not_in out.txt "memory of tests"
without 1 --heapprof=required test_limits.py -k "within or peak or of_unittest"
expect_eq "what failed" "$(failed)" "test_within test_peak "
expect_in out.txt "heapprof: the limits of this test cannot be checked: nothing is recorded of this process"
expect_in out.txt "  fix:     heapprof run -- python3 -m pytest"
without 0 --heapprof=off test_limits.py -k "within or peak"
expect_not_in out.txt "not checked"

# A device that there is none of cannot be checked either.
printf 'import pytest\n@pytest.mark.heapprof(max_peak=1, device="gpu")\ndef test_a(): pass\n' >test_device.py
run_pytest 0 test_device.py
expect_in out.txt "the limits of 1 test were not checked: there is no device 'gpu'"
run_pytest 1 --heapprof=required test_device.py
expect_in out.txt "cannot be checked: there is no device 'gpu'"
run_pytest 0 --heapprof=required --heapprof-device=gpu test_limits.py -k "of_unittest or lifted"
expect_in out.txt "not measured: 2 tests: there is no device 'gpu'"

# A test whose mark is written wrong fails, with the profiler or without; a wrong setting is said before any test runs.
wrong() {  # MARK WORDS
  printf 'import pytest\n@pytest.mark.heapprof(%s)\ndef test_a(): pass\n' "$1" >test_wrong.py
  without 1 test_wrong.py
  expect_in out.txt "heapprof: the mark of this test is wrong: $2"
}
wrong 'max_peek=1' "there is no key max_peek; its keys are max_peak, max_leaked, max_bytes, max_allocations, device"
wrong '"64MiB"' "it takes limits by their keys"
wrong 'max_peak="64M"' "max_peak is a size with its unit, such as '64MiB', '1.5 GiB' or '4kB', or a number of bytes, and not '64M'"
wrong 'max_peak=-1' "max_peak is a size"
wrong 'max_allocations="1kB"' "max_allocations is a number, and not '1kB'"
wrong 'max_peak=True' "max_peak is a size"
run_pytest 1 test_wrong.py
expect_in out.txt "heapprof: the mark of this test is wrong: max_peak is a size"
without 4 --heapprof-max-leaked=x test_plain.py
expect_in err.txt "--heapprof-max-leaked, or heapprof_max_leaked of the ini file: max_leaked is a size"

# Each worker of pytest-xdist measures its own tests, and all are in the table.
"$PYTHON" -c 'import xdist' 2>/dev/null || { not_tried "pytest-xdist: it is not installed (Debian: python3-pytest-xdist)"; exit 0; }
some="peak or of_unittest or lifted"
failed_sorted() { failed | tr ' ' '\n' | sort | tr '\n' ' '; }
run_pytest 1 --heapprof=required -n 2 test_limits.py -k "$some"
expect_eq "what failed in workers" "$(failed)" "test_peak "
expect_eq "rows of workers" "$(grep -A 4 'memory of tests on host' out.txt | grep -cE '^ +[0-9.]+ .* test_limits.py::')" 3
without 1 --heapprof=required -n 2 test_limits.py -k "$some"
expect_eq "what failed in workers" "$(failed_sorted)" "TestOfClass::test_lifted test_peak "
