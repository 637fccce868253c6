# Flags about Python: what does not go together, and what they do for a program without Python: nothing.
with_leaky_profile leaky.json
for other in --tree --list-suppressions --findings --scopes --snapshots "--format csv"; do
  # shellcheck disable=SC2086
  expect_status 2 "$HEAPPROF_BIN" report $other --packages leaky.json
  expect_in err.txt "--packages"
done
expect_status 0 "$HEAPPROF_BIN" report --packages leaky.json
expect_in out.txt "PACKAGES host"
expect_in out.txt "all of it is of one package"
expect_status 0 "$HEAPPROF_BIN" report leaky.json
cp out.txt plain.txt
expect_status 0 "$HEAPPROF_BIN" report --libraries leaky.json
cmp -s plain.txt out.txt || fail "--libraries changes what is said of a program without Python"
expect_not_in out.txt "by package"
expect_status 0 "$HEAPPROF_BIN" report --format json leaky.json
expect_eq "packages in JSON" "$(jq '[.devices[] | has("packages")] | any' out.txt)" false
expect_status 0 "$HEAPPROF_BIN" diff --libraries leaky.json leaky.json
expect_status 0 "$HEAPPROF_BIN" check --libraries --max-peak host=1GiB leaky.json
