# A few pairs of hazards: what a program does to itself × what is around it. All of them: tests/stress/hazard_pairs.sh.
SOURCE=$SOURCE BUILD=$BUILD HEAPPROF_BIN=$HEAPPROF_BIN TARGETS=$TARGETS bash "$SOURCE/tests/stress/hazard_pairs.sh" 8 "$RANDOM"
