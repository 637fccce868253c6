# Two dozen pairs of hazards, on one machine the same ones every time: what a program does to itself × what is around
# it. All of them, which take five minutes: tests/stress/hazard_pairs.sh.
SOURCE=$SOURCE BUILD=$BUILD HEAPPROF_BIN=$HEAPPROF_BIN TARGETS=$TARGETS bash "$SOURCE/tests/stress/hazard_pairs.sh" 24 1
