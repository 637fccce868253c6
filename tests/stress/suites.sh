#!/usr/bin/env bash
# Upstream test suites under heapprof and without it, compared test by test. Some 15 minutes; prints what it skipped.
# usage: suites.sh [MODULE…]      env: HEAPPROF_BIN SOURCE (defaults: build/release of this tree)
set -eu
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
HEAPPROF_BIN=${HEAPPROF_BIN:-${BUILD:-$SOURCE/build/release}/bin/heapprof}
python=$(command -v /usr/bin/python3 || command -v python3)
modules=("$@")
[ $# -gt 0 ] || modules=(test_gc test_os test_posix test_mmap test_resource test_atexit test_popen test_fork1 test_wait3 test_wait4
  test_exceptions test_memoryview test_json test_faulthandler test_signal test_subprocess test_threading test_thread
  test_multiprocessing_fork test_multiprocessing_spawn test_multiprocessing_forkserver test_concurrent_futures test_asyncio)
status=0
"$python" "$SOURCE/tests/support/suites.py" "$HEAPPROF_BIN" "${modules[@]}" || status=$?
for suite in git redis sqlite; do echo "skipped: $suite's own tests (its source package has to be fetched and built first)"; done
exit $status
