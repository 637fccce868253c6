# Lines that cannot be used are named; the others count.
made history plant_history
"$HEAPPROF_BIN" history ci.jsonl >shown.txt
{ sed -n 1,4p ci.jsonl; echo '{"version":9,"name":"x"}'; echo garbage; sed -n 5,60p ci.jsonl; head -c 50 <(sed -n 1p ci.jsonl); } >broken.jsonl
expect_status 0 "$HEAPPROF_BIN" history broken.jsonl
expect_in err.txt "warning: broken.jsonl line 5 is left out: it is of version 9, of a newer heapprof [HP134]"
expect_in err.txt "broken.jsonl line 6 is left out: "
expect_in err.txt "broken.jsonl line 63 is left out: it is cut off: "
expect_in out.txt "3 lines left out"
expect_eq "what is shown besides" "$(tail -n +2 out.txt)" "$(tail -n +2 shown.txt)"
