# heapprof estimate --device: what is free there, measured with a context on it, and what is said where nothing can be.
if ! ldconfig -p 2>/dev/null | grep -q libcuda.so.1; then
  refused 3 estimate tensor 3 --dtype f32 --device cuda:0 <<'WORDS'
heapprof: error: cuda:0 has to be measured, and cannot be: libcuda.so.1: cannot open shared object file: No such file or directory [HP198]
  fix:     see whether the driver works here: nvidia-smi
  instead: say how much is free: --limit 24GiB (that is believed, not measured)
WORDS
fi
export LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" FAKE_CUDA_OVERHEAD=1
refused 3 estimate tensor 3 --dtype f32 --device cuda:2 <<'WORDS'
heapprof: error: cuda:2 has to be measured, and cannot be: the driver shows 2 devices [HP198]
  fix:     see whether the driver works here: nvidia-smi
  instead: say how much is free: --limit 24GiB (that is believed, not measured)
WORDS
# The fake device has 1 GiB, and a context takes 64 MiB of it; without NVML nobody knows the latter.
expect_status 0 "$HEAPPROF_BIN" estimate weights 7M --dtype f32 --device cuda:0 --reserve 64MiB
says out.txt <<'WORDS'
weights         26.7 MiB     28,000,000 B
  = 7,000,000 parameters × 4 B (f32)
× 1.1 overhead  29.4 MiB     30,800,000 B

free on cuda:0   960 MiB  1,006,632,960 B   measured, less a context
− reserve       64.0 MiB     67,108,864 B
available        896 MiB    939,524,096 B

fits, 867 MiB to spare; most parameters that fit: 213,528,203
WORDS
export FAKE_NVML="$PWD/use"
expect_status 1 "$HEAPPROF_BIN" estimate weights 7B --dtype f32 --device cuda:1
expect_in out.txt "free on cuda:1   960 MiB   1,006,632,960 B   measured, less a context: 64.0 MiB"
expect_in out.txt "does not fit, 27.7 GiB too much"
expect_status 0 "$HEAPPROF_BIN" estimate weights 7M --dtype f32 --device cuda:1 --format json
expect_eq "in JSON" "$(jq -c .memory out.txt)" '{"measured":true,"device":"cuda:1","product":"Fake GPU","total_bytes":1073741824,"free_bytes":1006632960,"context_bytes":67108864,"reserve_bytes":0,"available_bytes":1006632960}'
