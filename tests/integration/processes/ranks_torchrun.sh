# torchrun's processes: what each rank knows of itself, when torchrun starts heapprof.
# (PyTorch 1.13 does not read its own default of --redirects and --tee under Python 3.11: others are named.)
[ -n "$(command -v torchrun)" ] || skip "torchrun is not installed (python3-torch)"
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK RANK SLURM_PROCID CUDA_VISIBLE_DEVICES
PATH=/usr/bin:$PATH torchrun --standalone --redirects 1 --tee 2 --log_dir logs --no_python --nproc_per_node 3 "$HEAPPROF_BIN" run -q -o "rank.%r.json" -- \
  "$TARGETS/rank_memory" RANK 9 9 9 >out.txt 2>err.txt || { grep -q "No module named" err.txt && skip "torchrun does not run here"; cat err.txt; fail "torchrun"; }
for rank in 0 1 2; do
  expect_eq "rank $rank" "$(json rank.$rank.json '.heapprof.job | del(.host) | tojson')" \
    "{\"launcher\":\"torchrun\",\"rank\":$rank,\"ranks_count\":3,\"local_rank\":$rank,\"local_device\":\"$rank\",\"is_child\":false}"
done
expect_status 0 "$HEAPPROF_BIN" merge -o all.json rank.?.json
expect_in err.txt "ranks  3 of torchrun on 1 host"
