# The names of thousands of sampled calls are those that llvm-symbolizer gives; the lines also addr2line's.
# Files: this project's own programs, one program compiled in every way, Rust programs, and the C library with its debug
# file.
tool=$BUILD/tests/support/symbolize_tool
[ -x "$tool" ] || skip "symbolize_tool is not built"
llvm=
for version in -14 -15 -16 -17 -18 -19 ""; do
  command -v "llvm-symbolizer$version" >/dev/null && { llvm=llvm-symbolizer$version; break; }
done
[ -n "$llvm" ] || skip "no llvm-symbolizer"
for need in addr2line objdump nm c++filt python3; do command -v $need >/dev/null || skip "no $need"; done

failed=
match() {
  "$PYTHON" "$SOURCE/tests/support/names_match.py" "$tool" "$llvm" "$1" "$2" || failed="$failed $1"
}
[ -x "$HEAPPROF_BIN" ] && match "$HEAPPROF_BIN" 4000
match "$tool" 3000
[ -x "$BUILD/tests/unit_symbolize" ] && match "$BUILD/tests/unit_symbolize" 3000
for program in "$BUILD"/tests/symbolize_programs/*/shapes; do
  # llvm-symbolizer reads zstd since 15, addr2line as it was built: they get the same file, inflated.
  if [ "$(basename "$(dirname "$program")")" = gcc_zstd ]; then
    objcopy --decompress-debug-sections "$program" shapes
    program=shapes
  fi
  match "$program" 1000
done
libc=$(ldd "$tool" | awk '$1 == "libc.so.6" { print $3 }')
id=$(readelf -n "$libc" | awk '/Build ID/ { print $3 }')
if [ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; then match "$libc" 5000; else echo "no debug file of libc here"; fi
[ -z "$failed" ] || fail "names differ:$failed"
