# Damaged files: 3, whatever is wrong.
head -c 500 "$small" >cut.json
expect_status 3 "$HEAPPROF_BIN" report cut.json
expect_in err.txt "heapprof: error: cut.json"
head -c 5000 /dev/urandom >noise.json
expect_status 3 "$HEAPPROF_BIN" report noise.json
expect_status 3 "$HEAPPROF_BIN" report /
jq '.pps[0].gb += 1' "$small" >wrong.json
expect_status 3 "$HEAPPROF_BIN" report wrong.json
# A small file that would take gigabytes of memory is read to 64 MiB. Unpacked, it is read as others are.
"$PYTHON" - <<'P'
import gzip
with gzip.open("dense.json.gz", "wb") as file:
    file.write(b'{"dhatFileVersion":2,"ftbl":[')
    for _ in range(70): file.write(b'"' + b"a" * ((1 << 20) - 3) + b'",')
    file.write(b'"x"]}')
P
refused 3 report dense.json.gz <<'WORDS'
heapprof: error: dense.json.gz unpacks to more than the 64.0 MiB that heapprof reads of it [HP343]
  fix:     if you trust it, unpack it and name what comes out: gzip -dc FILE >profile.json
WORDS
gzip -dc dense.json.gz >dense.json
expect_status 3 "$HEAPPROF_BIN" report dense.json
expect_in err.txt 'it is a profile of mode "", not of the heap'
