# Calls and look-ups of the CUDA driver, and allocations, go on while another thread closes libraries: none reads what
# is taken away.
plugins=()
for i in $(seq 40); do
  cp "$TARGETS/plugin_alpha.so" "plugin$i.so"
  plugins+=("$PWD/plugin$i.so")
done
for what in calls names; do
  for _ in $(seq 25); do
    status=0
    "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/cuda_unloading" $what "${plugins[@]}" >out.txt 2>err.txt || status=$?
    expect_eq "exit status, $what" "$status" 0
  done
  check_profile profile.json
  [ $what = names ] || expect_eq "kernels" "$(jq '.heapprof.device_api.kernel_launches_count > 0' profile.json)" true
done
