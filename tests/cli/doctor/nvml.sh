# heapprof doctor and NVML, as far as the fake one goes.
find_of() { jq -r --arg name "$1" '.checks[] | select(.name == $name) | .finding' found.json; }
what_of() { jq -r --arg name "$1" '.checks[] | select(.name == $name) | .what' found.json; }
fake() { LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" "$HEAPPROF_BIN" doctor --format json >found.json || fail "doctor: $?"; }
FAKE_NVML=use fake
expect_eq "NVML" "$(find_of nvml) $(what_of nvml)" "ok says what is in use on GPUs, and so what is unattributed"
fake
expect_eq "NVML without a driver" "$(find_of nvml) $(what_of nvml)" "warning what is unattributed on GPUs will not be known: Driver Not Loaded"
FAKE_NVML_IS=hanging fake
expect_eq "NVML that hangs" "$(find_of nvml) $(what_of nvml)" "warning what is unattributed on GPUs will not be known: NVML does not answer"
