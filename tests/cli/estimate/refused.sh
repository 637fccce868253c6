# heapprof estimate: what cannot be estimated: the exact words.
refused 2 estimate <<'WORDS'
heapprof: error: estimate needs to know what: tensor, attention, kv-cache or weights [HP192]
  fix:     heapprof estimate tensor 32x4096 --dtype bf16
  instead: see what each takes: heapprof estimate --help
WORDS
refused 2 estimate tensr 3 <<'WORDS'
heapprof: error: there is no estimate of 'tensr', only tensor, attention, kv-cache, weights; did you mean tensor? [HP192]
  fix:     heapprof estimate tensor 32x4096 --dtype bf16
  instead: see what each takes: heapprof estimate --help
WORDS
refused 2 estimate attention --batch 8 <<'WORDS'
heapprof: error: estimate attention needs --head-dim, --heads, --seq and --dtype [HP193]
  fix:     heapprof estimate attention --batch 8 --heads 32 --seq 4096 --head-dim 128 --dtype f16
  instead: see what each takes: heapprof estimate --help
WORDS
refused 2 estimate tensor 3 --dtype f32 --layers 4 <<'WORDS'
heapprof: error: estimate tensor does not go by --layers, only kv-cache does [HP194]
  fix:     leave --layers out
  instead: ask for heapprof estimate kv-cache
WORDS
refused 2 estimate tensor 32x4o96 --dtype f32 <<'WORDS'
heapprof: error: '32x4o96' is not a shape: dimensions of 0 or more [HP195]
  fix:     write it as 32x4096 or [32, 4096]; [] is a scalar
  instead: see what each takes: heapprof estimate --help
WORDS
refused 2 estimate weights 7Q --dtype f16 <<'WORDS'
heapprof: error: '7Q' is not a whole number of parameters [HP195]
  fix:     write it as 7B, 1.5M, 13e9 or 7000000000
  instead: see what each takes: heapprof estimate --help
WORDS
refused 2 estimate tensor -3x4 --dtype f32 <<'WORDS'
heapprof: error: '-3x4' is not a size or a count: it is negative [HP195]
  fix:     write it as a number of 0 or more
  instead: see what each takes: heapprof estimate --help
WORDS
refused 2 estimate tensor 3x4 --dtype bf6 <<'WORDS'
heapprof: error: 'bf6' is no element type; did you mean bf16? [HP196]
  fix:     take one of f64, f32, tf32, bf16, f16, fp8, i64, i32, i16, i8, u64, u32, u16, u8, bool, fp4, i4, u4
  instead: take one of the same size: only that counts here
WORDS
refused 2 estimate tensor 4294967296x4294967296 --dtype f32 <<'WORDS'
heapprof: error: the size of this tensor does not fit in 64 bits: 4294967296×4294967296 elements × 4 B (f32) [HP197]
  fix:     look for a number that is too large, perhaps bytes where elements are meant
  instead: estimate a part of it, and multiply
WORDS
refused 2 estimate tensor 3 --dtype f32 --overhead 0.9 <<'WORDS'
heapprof: error: --overhead takes a factor from 1 to 1000, such as 1.1, not '0.9' [HP052]
  fix:     give --overhead another value, or leave it out
WORDS
refused 2 estimate kv-cache --layers 32 --kv-heads 8 --head-dim 128 --pages 1000 --tokens 4 --dtype f16 <<'WORDS'
heapprof: error: --pages and --tokens ask for different things [HP172]
  fix:     leave --tokens out
  instead: leave --pages out
WORDS
refused 2 estimate tensor 3 --dtype f32 --device cuda:0 --limit 1GiB <<'WORDS'
heapprof: error: --device and --limit ask for different things [HP172]
  fix:     leave --limit out
  instead: leave --device out
WORDS
refused 2 estimate tensor 3 --dtype f32 --reserve 1GiB <<'WORDS'
heapprof: error: --reserve needs --device cuda:0 too [HP159]
  fix:     add --device cuda:0
  instead: leave --reserve out
WORDS
for words in "tensor 3x-4" "tensor 3x" "tensor x3" "tensor 3,,4" "tensor [3" "tensor 1.5x2" "tensor 99999999999999999999" "tensor 3 4" "weights -7B" "weights 1.5" \
  "weights 99999999999T" "tensor 3 --overhead nan" "tensor 3 --overhead 1e9" "tensor 3 --overhead 1.1x" "tensor 3 --limit 24G" "tensor 3 --limit 0B" "tensor 3 --device gpu0" \
  "tensor 3 --device cuda:" "tensor 3 --device cuda:-1" "tensor 3 --device cuda:9999" "tensor 3 --pages 4" "tensor 3 --batch 2" "attention --batch -1" "attention --batch 0" \
  "attention --batch 1e3" "attention 3 --batch 1 --heads 1 --seq 1 --head-dim 1" "attention --batch 1 --heads 1 --seq 1 --head-dim 1 --tokens 3" \
  "attention --batch 1000000000000000000 --heads 1000000000000000000 --seq 1 --head-dim 1" "kv-cache --layers 1 --kv-heads 1 --head-dim 1 --pages 3 --batch 2" \
  "kv-cache --layers 1 --kv-heads 1 --head-dim 1" "kv-cache --layers 1 --kv-heads 1 --head-dim 1 --tokens 1 --page-size 0"; do
  # shellcheck disable=SC2086
  expect_status 2 "$HEAPPROF_BIN" estimate $words --dtype f32
  [ ! -s out.txt ] || fail "'$words' was answered"
  expect_in err.txt "  fix:     "
done
