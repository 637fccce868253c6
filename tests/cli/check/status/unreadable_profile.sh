# A profile that cannot be read is not judged, and the others are.
with_leaky_profile p.json
echo '{}' >broken.json
expect_status 3 check --max-peak 1MiB --json x.json --junit x.xml broken.json p.json missing.json
expect_eq "verdicts" "$(outcomes x.json)" "broken.json: not judged;leaky: ok;missing.json: not judged"
expect_in out.txt "FAIL  missing.json  missing.json cannot be read: no such file or directory; its memory is not judged"
expect_in out.txt "1 limit kept · profile p.json"
expect_in x.xml 'tests="3" failures="0" errors="2"'
expect_eq "said once" "$(grep -c 'HP060' err.txt)" 1
