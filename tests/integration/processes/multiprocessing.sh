# python's multiprocessing: fork, spawn (a new interpreter) and forkserver (forks of a third process): each worker has
# its profile.
"$PYTHON" -c 'import multiprocessing, ctypes' 2>/dev/null || skip "no python3 with ctypes"
cat >workers.py <<'PY'
import ctypes, multiprocessing, os, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
def work(number):
    for _ in range(7): libc.malloc(ctypes.c_size_t(1000003))
    return os.getpid()
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    processes = [multiprocessing.Process(target=work, args=(i,)) for i in range(3)]
    for process in processes: process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
        print(process.pid)
PY
for method in fork spawn forkserver; do
  rm -f profile*
  # What spawn and forkserver leave (the server, the tracker of resources) ends by itself, a moment after python.
  expect_status 0 "$HEAPPROF_BIN" run --all-processes --wait=60 -o profile.json -- "$PYTHON" workers.py $method
  check_profile profile.json
  expect_eq "workers" "$(wc -l <out.txt)" 3
  while read -r worker; do
    check_profile profile.$worker.json
    expect_eq "lost in a worker ($method)" "$(counter lost_count profile.$worker.json)" 0
    # spawn and forkserver leave earlier images; the worker's blocks are in its last one.
    expect_eq "blocks of a worker ($method)" "$(json profile.$worker.json '[.pps[] | select(.tb == 7000021) | .tbk] | add')" 7
  done <out.txt
  expect_not_in err.txt "runs on"
done
