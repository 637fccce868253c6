# Programs as they are: what Python's mmap module maps, of memory and of a file, and a program without any mapping.
[ -n "$PYTHON" ] || missing python3 "python3 is not installed"
head -c 3000000 /dev/zero >data
cat >pages.py <<'EOF'
import mmap
anonymous = mmap.mmap(-1, 5_000_001)
with open("data", "rb") as file:
    whole = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
part = mmap.mmap(-1, 7_000_000)
part.close()
anonymous.resize(9_000_000)
EOF
total() { jq -r --arg device "$1" '[.heapprof.devices[] | select(.name == $device) | .totals.total_bytes] | add // 0' profile.json; }
export PYTHONMALLOC=malloc # else the interpreter maps arenas for its objects
profile "$PYTHON" -c 'import mmap; open("data", "rb").close()'
own=$(total mapped)
expect_eq "files that the interpreter maps by itself" "$(total mapped:file)" 0
profile "$PYTHON" pages.py
expect_eq "exit status" "$status" 0
expect_complete
whole_pages() { echo $((($1 + 4095) / 4096 * 4096)); }
expect_eq "memory" "$(total mapped)" $((own + $(whole_pages 5000001) + $(whole_pages 7000000) + $(whole_pages 9000000)))
expect_eq "the file" "$(total mapped:file)" "$(whole_pages 3000000)"

profile "$TARGETS/leaky"
expect_eq "devices of a program that maps nothing" "$(json profile.json '[.heapprof.devices[].name] | join(" ")')" host
expect_not_in err.txt mapped
