# heapprof estimate: bytes, the formula with its numbers, and whether it fits: the exact words.
export COLUMNS=80
estimate() { "$HEAPPROF_BIN" estimate "$@"; }
expect_status 0 estimate tensor 10x100 --dtype f32
says out.txt <<'WORDS'
tensor          3.91 KiB  4,000 B
  = 10×100 elements × 4 B (f32)
× 1.1 overhead  4.30 KiB  4,400 B
WORDS
expect_eq "on stderr" "$(cat err.txt)" ""
expect_status 0 estimate attention --batch 8 --heads 32 --seq 4096 --head-dim 128 --dtype f16 --limit 24GiB --reserve 1GiB
says out.txt <<'WORDS'
attention       9.00 GiB   9,663,676,416 B
  = (3×8×32×4096×128 + 8×32×4096×4096 + 8×32×4096×128) elements × 2 B (f16)
× 1.1 overhead  9.90 GiB  10,630,044,058 B

limit           24.0 GiB  25,769,803,776 B   assumed to be free; not measured
− reserve       1.00 GiB   1,073,741,824 B
available       23.0 GiB  24,696,061,952 B

fits, 13.1 GiB to spare; largest batch that fits: 18
WORDS
expect_status 0 estimate kv-cache --layers 32 --kv-heads 8 --head-dim 128 --tokens 8190 --batch 16 --page-size 16 --dtype fp8 --overhead 1 --limit 24GiB
says out.txt <<'WORDS'
kv-cache      8.00 GiB   8,589,934,592 B
  = 2 (keys, values) × 32 layers × 8 KV heads × 128 × 16 sequences × 512 pages ×
    16 tokens × 1 B (fp8)
× 1 overhead  8.00 GiB   8,589,934,592 B

limit         24.0 GiB  25,769,803,776 B   assumed to be free; not measured

fits, 16.0 GiB to spare; largest batch that fits: 48
WORDS
expect_status 1 estimate weights 70B --dtype bf16 --overhead 1.25 --limit 80GiB
says out.txt <<'WORDS'
weights           130 GiB  140,000,000,000 B
  = 70,000,000,000 parameters × 2 B (bf16)
× 1.25 overhead   163 GiB  175,000,000,000 B

limit            80.0 GiB   85,899,345,920 B   assumed to be free; not measured

does not fit, 83.0 GiB too much; most parameters that fit: 34,359,738,368
WORDS
expect_status 0 env LC_ALL=C "$HEAPPROF_BIN" estimate tensor '[5, 5]' --dtype INT4 --limit 1kB
says out.txt <<'WORDS'
tensor              13 B     13 B
  = 5x5 elements x 4 bits, rounded up to bytes (i4)
x 1.1 overhead      15 B     15 B

limit             1000 B  1,000 B   assumed to be free; not measured

fits, 985 B to spare; largest first dimension that fits: 363
WORDS

# For scripts: the same numbers, and what was not asked for has no key.
bytes() { estimate "$@" --format json | jq -r .bytes; }
expect_eq "f16" "$(bytes tensor 10,100 --dtype f16)" 2000
expect_eq "empty" "$(bytes tensor 0 --dtype f32)" 0
expect_eq "empty, beside what does not fit" "$(bytes tensor 0x18446744073709551615x18446744073709551615 --dtype f64)" 0
expect_eq "scalar" "$(bytes tensor '[]' --dtype f64)" 8
expect_eq "attention" "$(bytes attention --batch 1 --heads 1 --seq 4 --head-dim 2 --dtype f32)" 192
expect_eq "weights" "$(bytes weights 1.5M --dtype u4)" 750000
expect_eq "weights" "$(bytes weights 13e9 --dtype half)" 26000000000
expect_eq "a pool of pages" "$(bytes kv-cache --layers 2 --kv-heads 3 --head-dim 5 --pages 7 --page-size 16 --dtype i8)" $((2 * 2 * 3 * 5 * 7 * 16))
expect_eq "keys without memory" "$(estimate tensor 1 --dtype f32 --format json | jq -c keys)" \
  '["bytes","bytes_with_overhead","dtype","elements","formula","kind","overhead","shape","version"]'
expect_status 1 estimate kv-cache --layers 2 --kv-heads 3 --head-dim 5 --tokens 17 --page-size 16 --dtype f16 --limit 4000B --reserve 1kB --format json
expect_eq "in JSON" "$(jq -c . out.txt)" '{"version":1,"kind":"kv-cache","dtype":"f16","layers":2,"kv_heads":3,"head_dim":5,"batch":1,"tokens":17,"page_size":16,"elements":1920,"bytes":3840,"formula":"2 (keys, values) × 2 layers × 3 KV heads × 5 × 1 sequence × 2 pages × 16 tokens × 2 B (f16)","overhead":1.1,"bytes_with_overhead":4224,"memory":{"measured":false,"limit_bytes":4000,"reserve_bytes":1000,"available_bytes":3000},"fits":false,"largest":{"of":"batch","any":false,"value":0,"bytes_with_overhead":0}}'
expect_eq "any" "$(estimate tensor 3x0 --dtype f32 --limit 1B --format json | jq -c .largest)" '{"of":"first_dimension","any":true}'

# To the byte: the limit that is needed, and one less.
expect_status 0 estimate weights 1000 --dtype u8 --limit 1100B
expect_status 1 estimate weights 1000 --dtype u8 --limit 1099B
