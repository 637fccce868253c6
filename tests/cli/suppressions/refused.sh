# Mistakes in a file of suppressions: four parts, with the line; before the program starts.
with_leaky_profile leaky.json
cp "$SOURCE/tests/cli/suppressions/my.supp" .
printf 'function:a  # fine\n\nfunction:b\n' >broken.supp
refused 2 report --suppressions broken.supp leaky.json <<'WORDS'
heapprof: error: broken.supp, line 3: the reason is missing: a rule ends with # and why the leak is known [HP081]
  fix:     write it like this: function:GLOB module:GLOB <- file:GLOB  # why this is known to stay
  instead: leave the line out: what it would suppress is shown as live at exit
WORDS
refused 125 run --suppressions none.supp touch started <<'WORDS'
heapprof: error: the suppressions in none.supp cannot be read: no such file or directory [HP080]
  fix:     look for the file: ls -l none.supp
  instead: leave --suppressions out: all that is live at exit is shown
WORDS
[ ! -e started ] || fail "the program was started"
refused 2 report --suppressions= leaky.json <<'WORDS'
heapprof: error: --suppressions needs a value [HP059]
  fix:     --suppressions FILE
WORDS
expect_status 2 "$HEAPPROF_BIN" report --suppressions . leaky.json
expect_in err.txt "[HP080]"
expect_status 2 "$HEAPPROF_BIN" report --suppressions "$HEAPPROF_BIN" leaky.json
expect_in err.txt "HP08"
