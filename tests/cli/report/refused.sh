# What heapprof report cannot show: the exact words, the exit status, nothing on stdout.
refused 2 report <<WORDS
heapprof: error: no profile was named, and $PWD has none [HP056]
  fix:     heapprof report FILE
  instead: make one: heapprof run -- PROGRAM
WORDS
refused 2 report "" <<'WORDS'
heapprof: error: no profile was named [HP056]
  fix:     heapprof report FILE
  instead: make one: heapprof run -- PROGRAM
WORDS
refused 2 report --tpo 3 x.json <<'WORDS'
heapprof: error: unknown flag: --tpo; did you mean --top? [HP050]
  fix:     see the flags: heapprof report --help
WORDS
refused 2 report --top many x.json <<'WORDS'
heapprof: error: --top takes a number from 1 to 1,000,000, not 'many' [HP052]
  fix:     give --top another value, or leave it out
WORDS
refused 2 report x.json --sort <<'WORDS'
heapprof: error: --sort needs a value [HP059]
  fix:     --sort METRIC
WORDS
refused 2 report a.json b.json <<'WORDS'
heapprof: error: report takes one profile, and 'b.json' is a second one [HP191]
  fix:     compare them: heapprof diff a.json b.json
  instead: add them up: heapprof merge -o all.json a.json b.json
WORDS
refused 2 report --device gpu "$small" <<'WORDS'
heapprof: error: the profile has no device 'gpu', only host, cuda:0 [HP057]
  fix:     name one of them, or leave --device out
WORDS
ln -s "$foreign/valgrind_heap.json" dhat.out
refused 2 report --sort temporary dhat.out <<'WORDS'
heapprof: error: dhat.out does not have the metric temporary: its tool does not count it [HP067]
  fix:     go by something else, such as total
  instead: profile the program with heapprof run, which counts them
WORDS
refused 3 report "no such file" <<'WORDS'
heapprof: error: no such file cannot be read: no such file or directory [HP060]
  fix:     look for it: ls -l 'no such file'
  instead: make a profile: heapprof run -o FILE -- PROGRAM
WORDS
echo '{}' >empty.json
refused 3 report empty.json <<'WORDS'
heapprof: error: empty.json is no profile: there is no dhatFileVersion [HP062]
  fix:     name a profile of heapprof run, of valgrind --tool=dhat or of dhat-rs
WORDS
# What is no JSON at all.
: >nothing
echo 'int main() {}' >x.cpp
expect_status 3 "$HEAPPROF_BIN" report nothing
expect_in err.txt "nothing is no profile: it is empty [HP062]"
head -c 5000 /dev/zero >zeros
expect_status 3 "$HEAPPROF_BIN" report zeros
expect_in err.txt "zeros is no profile: it is no JSON, or not an object of it"
for file in x.cpp /bin/true; do
  expect_status 3 "$HEAPPROF_BIN" report $file
  expect_in err.txt "$file is no profile: it is no JSON, or not an object of it [HP062]"
done
refused 2 report --format dot "$small" <<'WORDS'
heapprof: error: --format dot needs --scopes too [HP159]
  fix:     add --scopes
  instead: leave --format dot out
WORDS
