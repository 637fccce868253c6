# Flags that mean nothing beside --contracts are refused.
contract() { printf 'version = 1\n[[contract]]\nid = "c"\nstatement = "It is so"\n%s\n' "$1" >c.toml; }
contract "$(printf 'command = ["./leaky"]\nexit = 0')"
for other in "--max-peak 1MiB" "--budget c.toml" "--baseline c.json" "--runs 2" "--update-budget" "--update-baseline" "-- ./leaky" "p.json"; do
  # shellcheck disable=SC2086
  expect_status 2 check --contracts c.toml $other
  expect_in err.txt "[HP182]"
done
for flag in "--tolerance 3%" "--slack 1KiB" "--processes each"; do
  # shellcheck disable=SC2086
  expect_status 2 check --contracts c.toml $flag
  expect_in err.txt "[HP182]"
done
