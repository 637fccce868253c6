# What heapprof export does not take: the exact words.
cp "$small" r.json
cp "$foreign/valgrind_heap.json" v.json
refused 2 export r.json <<'WORDS'
heapprof: error: export needs a format: one of folded, speedscope, dhat, pprof, memory-viz [HP130]
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
expect_in err.txt "--format takes folded, speedscope, dhat, pprof or memory-viz, not 'svg' [HP052]"
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
