# -o with %p, %n, %r and %t; no profile of a run takes another's name.
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK RANK SLURM_PROCID
run() { "$HEAPPROF_BIN" run -q -o "$@" >out.txt 2>err.txt; }
run '%n-%p-%r-100%%.json' -- "$TARGETS/forks" 2 || fail "exit status $?"
root=$(ls forks-*-none-100%.json | grep -vFf <(sed 's/.*/-&-/' out.txt))
expect_eq "pid of the root's profile" "$root" "forks-$(json "$root" .pid)-none-100%.json"
while read -r child; do
  expect_eq "pid in forks-$child" "$(json "forks-$child-none-100%.json" .pid)" "$child"
done <out.txt
expect_eq "profiles" "$(ls ./*.json | wc -l)" 3
rm ./*.json

# One name for many processes: each keeps its own profile.
run '%n.json' -- "$TARGETS/forks" 5 || fail "exit status $?"
expect_eq "profiles of one name" "$(ls forks.json forks.*.json | wc -l)" 6
expect_sum '^allocate_in_parent' "3705 3 2470 2" forks.json
while read -r child; do expect_sum '^allocate_in_child' "6185 5 4948 4" "forks.$child.json"; done <out.txt
rm ./*.json

# Each process's own rank, of whichever launcher.
for variable in OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK RANK SLURM_PROCID; do
  run "$variable.%r.json" -- sh -c "$variable=3 '$TARGETS/leaky'; $variable=../x '$TARGETS/leaky'; true" || fail "exit status $?"
  expect_eq "command of rank 3 ($variable)" "$(json $variable.3.json .cmd)" "$TARGETS/leaky"
done

# What else its launcher says, in the profile: the innermost launcher's; of Slurm's protocols for MPI Slurm's own; no
# number of ranks that the rank is beyond, and no name that is none.
job() { # NAME VARIABLES… : the job of leaky, run with them
  local name=$1
  shift
  run "$name.json" -- env "$@" "$TARGETS/leaky" || fail "exit status $?"
  json "$name.json" '.heapprof.job | del(.host) | tojson'
}
expect_eq "no launcher" "$(job none A=1)" null
expect_eq "torchrun in Slurm" "$(job torchrun RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0)" \
  '{"launcher":"torchrun","rank":5,"ranks_count":8,"local_rank":1,"local_device":"1","is_child":false}'
expect_eq "PMI of Slurm" "$(job pmi PMI_RANK=1 PMI_SIZE=9 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0 CUDA_VISIBLE_DEVICES=3)" \
  '{"launcher":"Slurm","rank":1,"ranks_count":2,"local_rank":0,"local_device":"3","is_child":false}'
expect_eq "a batch script" "$(job batch SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_LOCALID=0)" \
  '{"launcher":"Slurm","rank":0,"local_rank":0,"local_device":"","is_child":false}'
expect_eq "hostile" "$(job hostile OMPI_COMM_WORLD_RANK=7 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_RANK=-1 CUDA_VISIBLE_DEVICES="$(printf '\033]2;x')")" \
  '{"launcher":"Open MPI","rank":7,"local_device":"","is_child":false}'
expect_eq "Slurm's node" "$(run node.json -- env SLURM_PROCID=0 SLURMD_NODENAME=n7 "$TARGETS/leaky" && json node.json .heapprof.job.host)" n7

# The start, in local time.
TZ=UTC run '%t.json' -- "$TARGETS/leaky" || fail "exit status $?"
ls | grep -qE '^20[0-9]{6}-[0-9]{6}\.json$' || fail "no profile named for its time: $(ls)"

# A folder that is not there and a % that means nothing are found before the program runs.
expect_status 125 "$HEAPPROF_BIN" run -o 'none/%p.json' -- sh -c 'echo ran'
expect_eq "the program's words" "$(cat out.txt)" ""
expect_status 125 "$HEAPPROF_BIN" run -o '%p.%q.json' -- sh -c 'echo ran'
expect_in err.txt "'%q'"
expect_eq "the program's words" "$(cat out.txt)" ""
