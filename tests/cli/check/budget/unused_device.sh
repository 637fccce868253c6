# A default for a device that the program does not use is a warning beside other limits. If it is the only one, it is an
# error, since nothing would be judged.
with_leaky_profile p.json
printf 'version = 1\n[defaults]\npeak = { "cuda:0" = "1 GiB" }\n' >device.toml
printf 'version = 1\n[defaults]\npeak = { "cuda:0" = "1 GiB", host = "1 GiB" }\n' >both.toml
for what in p.json "-- $TARGETS/leaky"; do
  # shellcheck disable=SC2086
  expect_status 2 check --budget device.toml $what
  expect_in err.txt "warning: device.toml, line 3: the program used no device 'cuda:0', only host [HP146]"
  expect_in err.txt "error: no limit is set for the devices that leaky used: host [HP141]"
  # shellcheck disable=SC2086
  expect_status 0 check --budget both.toml $what
  expect_in err.txt "[HP146]"
  expect_not_in err.txt "[HP141]"
  # shellcheck disable=SC2086
  expect_status 0 check --budget device.toml --max-peak host=1GiB $what
done
# With a baseline, what grew is judged.
expect_status 0 check --budget device.toml --baseline p.json p.json
expect_in err.txt "[HP146]"
