# Calls of the CUDA driver, and allocations, go on while other threads close libraries: no call reads what is being taken away.
for _ in $(seq 25); do
  status=0
  "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/cuda_unloading" "$TARGETS/plugin_alpha.so" "$TARGETS/plugin_beta.so" >out.txt 2>err.txt || status=$?
  expect_eq "exit status" "$status" 0
done
check_profile profile.json
expect_eq "kernels" "$(jq '.heapprof.device_api.kernel_launches_count > 0' profile.json)" true
