# Limits that are kept: one line each, exit status 0, and no profile is left behind.
cp "$TARGETS/leaky" .
expect_status 0 check --max-peak host=1MiB --max-leaked 8KiB -- ./leaky
expect_eq "stderr" "$(cat err.txt)" ""
says out.txt <<'TEXT'
ok  leaky  host peak          7.24 KiB  limit 1.00 MiB  1 %
ok  leaky  host live at exit  6.03 KiB  limit 8.00 KiB  75 %
2 limits kept
TEXT
expect_eq "profiles kept without need" "$(ls *.json 2>/dev/null)" ""
