# 64 ranks of Open MPI on four hosts (names of a UTS namespace each): what each knows of itself, what the sum says of
# them, and merge as a step of mpirun. A rank stands out, one fails, one is killed; a process of the step does not come.
[ -n "$(command -v mpirun)" ] || skip "Open MPI is not installed (openmpi-bin)"
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK RANK SLURM_PROCID CUDA_VISIBLE_DEVICES
unshare --uts true 2>/dev/null || skip "no host names of their own (unshare --uts needs root)"
as_ranks() { OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n "$@"; }
ranks=64

# Sixteen ranks a host, each host with a folder of its own.
cat >rank.sh <<'SH'
#!/bin/sh
hostname "node$((OMPI_COMM_WORLD_RANK / 16))"
mkdir -p "$PWD/$(hostname)"
CUDA_VISIBLE_DEVICES=GPU-a,GPU-b "$HEAPPROF_BIN" run -q -o "$(hostname)/rank.%r.json" -- "$TARGETS/rank_memory" OMPI_COMM_WORLD_RANK 40 23 31
exit 0
SH
chmod +x rank.sh
as_ranks $ranks unshare --uts "$PWD/rank.sh" >out.txt 2>err.txt || { cat err.txt; fail "mpirun"; }
expect_eq "profiles, with the children's" "$(ls node?/*.json | wc -l)" $((2 * ranks))
expect_eq "rank 17" "$(json node1/rank.17.json '.heapprof.job | tojson')" \
  '{"launcher":"Open MPI","rank":17,"ranks_count":64,"local_rank":17,"host":"node1","local_device":"","is_child":false}'
expect_eq "the card of rank 1" "$(json node0/rank.1.json .heapprof.job.local_device)" "GPU-b"
expect_eq "its child" "$(json "$(ls node0/rank.1.*.json)" '.heapprof.job | [.rank, .is_child] | tojson')" "[1,true]"

# All of them in one process: what it says is what the profiles say.
expect_status 0 "$HEAPPROF_BIN" merge --keep -o one.json node0 node1 node2 node3
expect_in err.txt "ranks  64 of Open MPI on 4 hosts"
expect_in err.txt "2 ranks failed: rank 23 on node1: exit 3, rank 31 on node1: killed by signal 9 [HP270]"
"$SOURCE/tests/support/rank_books.py" one.json node?/*.json || fail "the sum is not what the ranks have"
expect_eq "whole profiles" "$(ls one.ranks)" "rank.23.json
rank.31.json
rank.40.json"
cmp node2/rank.40.json one.ranks/rank.40.json || fail "a whole profile is another one"
expect_status 0 "$HEAPPROF_BIN" report one.json
expect_in out.txt "PEAK BY RANK, DEVICE, PLACE"
expect_in out.txt "64 ranks of Open MPI on 4 hosts, top 5 of"
expect_in out.txt "rank 40"
expect_in out.txt "in 64 of 128 processes, "
expect_in out.txt "only in rank 40 on node2"
expect_in out.txt "1.21 KiB to 77.2 KiB, average 39.2 KiB, most in rank 63 on node3"
"$HEAPPROF_BIN" report --table ranks --format json one.json >table.json
expect_eq "the largest" "$(json table.json '.rows[0] | [.rank, .host, .device, .place] | tojson')" \
  '[40,"node2","host","use_much (rank_memory.cc:30)"]'

# Eight processes of a step, two a host, each host's own folder: the same bytes.
cat >step.sh <<'SH'
#!/bin/sh
hostname "node$((OMPI_COMM_WORLD_RANK % 4))"
[ "$OMPI_COMM_WORLD_RANK" != "$ABSENT" ] || { sleep 1; exit 0; }
rc=0
"$HEAPPROF_BIN" merge "$@" || rc=$?
[ "$OMPI_COMM_WORLD_RANK" = 0 ] && echo "status $rc"
exit 0
SH
chmod +x step.sh
merge_step() { as_ranks 8 unshare --uts "$PWD/step.sh" "$@" >out.txt 2>err.txt || { cat err.txt; fail "mpirun"; }; }
cat >own.sh <<'SH'
#!/bin/sh
exec "$PWD/step.sh" "$@" "node$((OMPI_COMM_WORLD_RANK % 4))"
SH
chmod +x own.sh
as_ranks 8 unshare --uts "$PWD/own.sh" -o own.json >out.txt 2>err.txt || { cat err.txt; fail "mpirun"; }
expect_in out.txt "status 0"
cmp one.json own.json || fail "a step with folders of nodes gives another sum"
expect_eq "whole profiles of a step" "$(ls own.ranks)" "$(ls one.ranks)"
cmp node1/rank.31.json own.ranks/rank.31.json || fail "a whole profile of another node is another one"
merge_step -o shared.json node0 node1 node2 node3
cmp one.json shared.json || fail "a step with folders that all see gives another sum"
expect_eq "what is left of the step" "$(ls -d ./*heapprof-merge* 2>/dev/null)" ""

# A process that does not come costs its share, is named, and nobody waits for ever. The other one of its host has its
# folder as well, so nothing is lost; where it is alone with it, its ranks are missing.
ABSENT=5 merge_step --wait 8 -o late.json node0 node1 node2 node3
expect_in out.txt "status 4"
expect_in err.txt "5 (did not come) [HP272]"
cmp one.json late.json || fail "without a process that shares its files the sum is another one"
cat >alone.sh <<'SH'
#!/bin/sh
exec "$PWD/step.sh" "$@" "node$((OMPI_COMM_WORLD_RANK))"
SH
chmod +x alone.sh
ABSENT=3 as_ranks 4 unshare --uts "$PWD/alone.sh" --wait 8 -o less.json >out.txt 2>err.txt || { cat err.txt; fail "mpirun"; }
expect_in out.txt "status 4"
expect_in err.txt "16 of 64 ranks left no profile that was merged: 48, 49, 50,"
expect_eq "ranks that are there" "$(json less.json '[.heapprof.merged[] | select(.device == "host" and (.is_child | not))] | length')" 48
expect_status 0 "$HEAPPROF_BIN" merge -q -o whole.json less.json node3
cmp one.json whole.json || fail "the sum with what was late is another one"

# A damaged profile costs the share of who read it, says so, and mpirun, which ends all when one fails, sees none fail.
mkdir damaged
head -c 1000 node3/rank.50.json >damaged/rank.50.json
cat >damaged.sh <<'SH'
#!/bin/sh
hostname "node$OMPI_COMM_WORLD_RANK"
[ "$OMPI_COMM_WORLD_RANK" != 2 ] || exec "$HEAPPROF_BIN" merge -o damaged.json node2 damaged
exec "$HEAPPROF_BIN" merge -o damaged.json "node$OMPI_COMM_WORLD_RANK"
SH
chmod +x damaged.sh
status=0
as_ranks 4 unshare --uts "$PWD/damaged.sh" >out.txt 2>err.txt || status=$?
expect_eq "mpirun's status" $status 4
expect_said err.txt "damaged.json lacks what some of the 4 processes of this step had: 2 (damaged/rank.50.json is not JSON"
expect_eq "ranks that are there" "$(json damaged.json '[.heapprof.merged[] | select(.device == "host" and (.is_child | not))] | length')" 48

# One that is late is named; and one whose process 0 does not come says so, and leaves nothing.
cat >slow.sh <<'SH'
#!/bin/sh
hostname "node$OMPI_COMM_WORLD_RANK"
[ "$OMPI_COMM_WORLD_RANK" != 1 ] || sleep 4
exec "$HEAPPROF_BIN" merge --wait 8 -o slow.json "node$OMPI_COMM_WORLD_RANK"
SH
chmod +x slow.sh
status=0
as_ranks 2 unshare --uts "$PWD/slow.sh" >out.txt 2>err.txt || status=$?
[ "$status" = 4 ] || [ "$status" = 1 ] || { cat err.txt; fail "mpirun's status is $status"; }
expect_in err.txt "1 (did not come) [HP272]"
expect_status 1 env OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=7 "$HEAPPROF_BIN" merge --wait 1 -o left.json node0
expect_in err.txt "process 0 did not say what to do (in left.json.heapprof-merge-7) [HP273]"
expect_eq "what it left" "$(ls -d left* 2>/dev/null)" ""
expect_status 0 env OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=7 "$HEAPPROF_BIN" merge --alone -q -o left.json node0
expect_eq "ranks that are there" "$(json slow.json '[.heapprof.merged[] | select(.device == "host" and (.is_child | not))] | length')" 16

# A copy of a profile is another file, and the same process.
mkdir copies
cp node0/rank.0.json copies/rank.0.json
touch -d '2001-01-01' copies/rank.0.json
merge_step -o twice.json node0 copies
expect_in out.txt "status 2"
expect_in err.txt "[HP274]"
[ ! -e twice.json ] || fail "a sum that counts a process twice was written"

# Ranks that MPI itself knows.
[ -n "$(command -v mpicc)" ] || { not_tried "a program of MPI's (libopenmpi-dev)"; exit 0; }
cat >mpi.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  volatile char* block = malloc(100000 + (size_t)rank);
  block[0] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
mpicc -g -O1 -o mpi mpi.c || fail "mpicc"
as_ranks 4 "$HEAPPROF_BIN" run -q -o "mpi.%r.json" -- ./mpi >out.txt 2>err.txt || { cat err.txt; fail "a program of MPI's"; }
for rank in 0 1 2 3; do
  expect_eq "the block of rank $rank" "$(json mpi.$rank.json "[.pps[] | select(.eb == $((100000 + rank)))] | length")" 1
  expect_eq "rank $rank" "$(json mpi.$rank.json .heapprof.job.rank)" $rank
done
