# What heapprof export does not take: the exact words.
cp "$small" r.json
cp "$foreign/valgrind_heap.json" v.json
refused 2 export r.json <<'WORDS'
heapprof: error: export needs a format: one of folded, speedscope, dhat, pprof, memory-viz, perfetto, dot, sites [HP130]
  fix:     heapprof export --format speedscope -o r.json.speedscope r.json
  instead: read it here: heapprof report r.json
WORDS
refused 2 export --format dhat --metric peak r.json <<'WORDS'
heapprof: error: --format dhat takes no --metric: the file holds all of them [HP132]
  fix:     leave --metric out, and choose in the viewer
  instead: choose a format of one metric: --format folded
WORDS
refused 2 export --format folded --device cuda:7 r.json <<'WORDS'
heapprof: error: the profile has no device 'cuda:7', only host, cuda:0 [HP057]
  fix:     name one of them, or leave --device out
WORDS
expect_status 2 "$HEAPPROF_BIN" export --format folded --metric temporary v.json
expect_in err.txt "[HP067]"
expect_status 2 "$HEAPPROF_BIN" export --format svg r.json
expect_in err.txt "--format takes folded, speedscope, dhat, pprof, memory-viz, perfetto, dot or sites, not 'svg' [HP052]"
refused 2 export --format perfetto --metric peak r.json <<'WORDS'
heapprof: error: --format perfetto takes no --metric: the file holds all of them [HP132]
  fix:     leave --metric out, and choose in the viewer
  instead: choose a format of one metric: --format folded
WORDS
refused 2 export --format pprof r.json v.json <<'WORDS'
heapprof: error: --format pprof holds one profile, and 'v.json' is a second one [HP250]
  fix:     export one after the other, or choose a format of several: --format perfetto
  instead: add them up first: heapprof merge -o all.json FILES
WORDS
expect_status 3 "$HEAPPROF_BIN" export --format perfetto -o x.tar r.json missing.json
[ ! -e x.tar ] || fail "something was written in spite of an error"
expect_status 2 "$HEAPPROF_BIN" export --format folded
expect_in err.txt "[HP056]"
refused 2 export --format memory-viz --metric peak r.json <<'WORDS'
heapprof: error: --format memory-viz takes no --metric: it shows single blocks, and no sums [HP132]
  fix:     leave --metric out, and choose in the viewer
  instead: choose a format of one metric: --format folded
WORDS
refused 2 export --format memory-viz r.json <<'WORDS'
heapprof: error: r.json has no trace of device memory: it is of a program without device memory, of --device-trace 0, or of an older heapprof [HP139]
  fix:     record one: heapprof run --device-trace 10000 -o FILE -- PROGRAM
  instead: look at sums by site: heapprof report r.json
WORDS
