# heapprof history: what it shows of planted steps and drifts, at every width and in ASCII.
made history plant_history
expect_status 0 "$HEAPPROF_BIN" history ci.jsonl
cat >want.txt <<'WORDS'
ci.jsonl  60 entries  2026-11-18 11:06 … 2026-11-19 16:06

render-small  host  30 runs, 10 beyond limits
                                        first      last     change           smallest   largest
  peak         ▁▁▁▁▁▁▁▁▁▁▁▁▁███████   100 MiB   110 MiB  +10.0 MiB  +10.0 %   100 MiB   110 MiB
  total        ▁▁▁▂▂▃▃▄▄▄▅▅▅▆▆▇▇███  1.00 GiB  1.08 GiB  +87.0 MiB   +8.5 %  1.00 GiB  1.08 GiB
  allocations  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁    1.84 M    1.84 M         ±0             1.84 M    1.84 M
  peak rose: 100 MiB → 110 MiB, +10.0 % at 140000000000, 2026-11-19 07:06, run 21 of 30
  total drifts up: 1.01 GiB → 1.08 GiB, +7.3 % over 30 runs, no single change over 0.3 %
    from 000000000000, 2026-11-18 11:06 to 1d0000000000, 2026-11-19 16:06

render-small  cuda:0  30 runs, 10 beyond limits
                                       first     last     change           smallest  largest
  peak         ▁▁▁▁▁▁▁▁▁▁▁▁▁███████  200 MiB  220 MiB  +20.0 MiB  +10.0 %   200 MiB  220 MiB
  allocations  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁   1.84 M   1.84 M         ±0             1.84 M   1.84 M
  peak rose: 200 MiB → 220 MiB, +10.0 % at 140000000000, 2026-11-19 07:06, run 21 of 30
WORDS
cmp -s want.txt out.txt || { diff want.txt out.txt >&2 || true; fail "another history"; }
expect_eq "words on stderr" "$(cat err.txt)" ""
expect_eq "widest line" "$(($(wc -L <out.txt) <= 100))" 1
COLUMNS=80 "$HEAPPROF_BIN" history ci.jsonl >narrow.txt
expect_not_in narrow.txt largest
expect_in narrow.txt "+10.0 MiB  +10.0 %"
LC_ALL=C "$HEAPPROF_BIN" history ci.jsonl >ascii.txt
expect_eq "ASCII where the locale is" "$(LC_ALL=C grep -c '[^ -~]' ascii.txt)" 0
