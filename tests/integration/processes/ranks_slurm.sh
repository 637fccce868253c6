# Slurm of one machine with four nodes (slurmctld, and a slurmd for each node): what each rank knows of itself, and
# merge as a step of srun, each node with a folder of its own. In a batch script, which is no step, merge waits for
# nobody. Everything of it lies in this test's folder, with ports of its own, and ends with the test.
[ "$(id -u)" = 0 ] || skip "slurmd needs root"
for tool in slurmctld slurmd srun sbatch munged; do
  [ -n "$(command -v $tool)" ] || skip "Slurm is not installed (slurmctld, slurmd, slurm-client, munge: no $tool)"
done
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK RANK SLURM_PROCID CUDA_VISIBLE_DEVICES
for variable in ${!SLURM_*}; do unset "$variable"; done

# The socket's name must be short, and its folder one that munge trusts.
short=$(mktemp -d /tmp/heapprof-slurm.XXXXXX)
chmod 755 "$short"
stop() {
  local file
  for file in "$PWD"/slurm/*.pid "$short"/munged.pid; do
    [ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null || true
  done
  rm -rf "$short"
}
at_end() { stop; }
mkdir -p slurm/state slurm/spool
head -c 128 /dev/urandom >"$short/key"
chmod 600 "$short/key"
munged --force --socket="$short/socket" --key-file="$short/key" --log-file="$short/log" --pid-file="$short/munged.pid" --seed-file="$short/seed" 2>munged.txt ||
  skip "munged does not start here: $(tail -n 1 munged.txt)"

port=$((20000 + $$ % 20000))
host=$(hostname)
cat >slurm/slurm.conf <<CONF
ClusterName=heapprof
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$short/socket
StateSaveLocation=$PWD/slurm/state
SlurmdSpoolDir=$PWD/slurm/spool/%n
SlurmctldPidFile=$PWD/slurm/slurmctld.pid
SlurmdPidFile=$PWD/slurm/slurmd.%n.pid
SlurmctldLogFile=$PWD/slurm/slurmctld.log
SlurmdLogFile=$PWD/slurm/slurmd.%n.log
SlurmctldPort=$port
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=node[0-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=16
PartitionName=all Nodes=node[0-3] Default=YES State=UP
CONF
export SLURM_CONF=$PWD/slurm/slurm.conf
slurmctld >slurm/start.txt 2>&1 || skip "slurmctld does not start here: $(tail -n 1 slurm/start.txt)"
for node in 0 1 2 3; do
  mkdir -p slurm/spool/node$node
  slurmd -N node$node >slurm/start.txt 2>&1 || skip "slurmd -N does not start here: $(tail -n 1 slurm/start.txt)"
done
for _ in $(seq 100); do
  [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 4 ] && break
  sleep 0.1
done
[ "$(sinfo -h -t idle -o %D)" = 4 ] || { sinfo; skip "the nodes do not come up here"; }

# 32 ranks, eight a node. srun's own status is that of the worst; it is looked at in the profiles.
cat >rank.sh <<'SH'
#!/bin/sh
mkdir -p "$SLURMD_NODENAME"
"$HEAPPROF_BIN" run -q -o "$SLURMD_NODENAME/rank.%r.json" -- "$TARGETS/rank_memory" SLURM_PROCID 20 11 30
exit 0
SH
chmod +x rank.sh
timeout 120 srun -Q -N 4 -n 32 --ntasks-per-node=8 ./rank.sh >out.txt 2>err.txt || { cat err.txt; fail "srun"; }
expect_eq "profiles, with the children's" "$(ls node?/*.json | wc -l)" 64
expect_eq "rank 9" "$(json node1/rank.9.json '.heapprof.job | tojson')" \
  '{"launcher":"Slurm","rank":9,"ranks_count":32,"local_rank":1,"host":"node1","local_device":"","is_child":false}'

expect_status 0 "$HEAPPROF_BIN" merge --keep -o one.json node0 node1 node2 node3
"$SOURCE/tests/support/rank_books.py" one.json node?/*.json || fail "the sum is not what the ranks have"
expect_in err.txt "ranks  32 of Slurm on 4 hosts"
expect_eq "whole profiles" "$(ls one.ranks | tr '\n' ' ')" "rank.11.json rank.20.json rank.30.json "

# One process a node, with the node's own folder, as /tmp is; and eight, with folders that all see.
cat >own.sh <<'SH'
#!/bin/sh
exec "$HEAPPROF_BIN" merge -o own.json "$SLURMD_NODENAME"
SH
chmod +x own.sh
timeout 120 srun -Q -N 4 --ntasks-per-node=1 ./own.sh >out.txt 2>err.txt || { cat err.txt; fail "merge as a step of srun"; }
cmp one.json own.json || fail "a step with folders of nodes gives another sum"
expect_eq "whole profiles of a step" "$(ls own.ranks)" "$(ls one.ranks)"
timeout 120 srun -Q -N 4 -n 8 "$HEAPPROF_BIN" merge -o shared.json node0 node1 node2 node3 >out.txt 2>err.txt ||
  { cat err.txt; fail "merge as a step of srun"; }
cmp one.json shared.json || fail "a step with folders that all see gives another sum"

# A batch script has the variables of a rank, and is none of several.
cat >batch.sh <<'SH'
#!/bin/sh
"$HEAPPROF_BIN" merge -q -o batch.json node0 node1 node2 node3
SH
timeout 60 sbatch -Q -W -N 2 -n 4 -o batch.txt batch.sh || { cat batch.txt; fail "merge in a batch script"; }
cmp one.json batch.json || fail "merge in a batch script gives another sum"
