# mimalloc inside of the executable is hooked in place, to the byte: its functions call one another, with and without a
# jump, and some begin with a call. Debian has no archive of it: its source comes by apt-get, and is kept in
# ~/.cache/heapprof.
for tool in apt-get dpkg-source gcc g++; do have $tool || skip "$tool is not installed"; done
cache=$HOME/.cache/heapprof/mimalloc-source

# Lists of its own: the machine's may have no sources, and are not ours to change.
fetch_source() {
  local apt=$PWD/apt
  mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
  sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$apt/parts/debian.sources" || return 1
  local -a own=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists"
    -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User= -o Acquire::http::Timeout=20)
  timeout 120 apt-get -q "${own[@]}" update >apt.log 2>&1 && (cd "$apt" && timeout 120 apt-get -q "${own[@]}" source --download-only mimalloc) >>apt.log 2>&1 || return 1
  mkdir -p "$cache.new.$$" && cp "$apt"/mimalloc_* "$cache.new.$$" && { mv -T "$cache.new.$$" "$cache" 2>/dev/null || rm -rf "$cache.new.$$"; }
}
ls "$cache"/*.dsc >/dev/null 2>&1 || fetch_source || skip "Debian's source of mimalloc is not to be had: $(tail -2 apt.log 2>/dev/null | tr '\n' ' ')"
dpkg-source --no-check -x "$cache"/*.dsc mimalloc >/dev/null 2>&1 || fail "Debian's source of mimalloc cannot be unpacked"
gcc -g -O2 -DNDEBUG -DMI_MALLOC_OVERRIDE=1 -DMI_STATIC_LIB -Imimalloc/include -c mimalloc/src/static.c -o mimalloc.o || fail "mimalloc cannot be built"

# Random work against the program's own books.
mapfile -t objects < <(find "$BUILD/tests/CMakeFiles/target_oracle.dir" -name '*.o')
g++ "${objects[@]}" mimalloc.o -o oracle_in_mimalloc -lpthread
for parameters in "101 1 20000 free" "110 8 40000 free" "103 2 20000 barrier"; do
  read -r seed threads operations mode <<<"$parameters"
  "$HEAPPROF_BIN" run -q -o rest.json -- ./oracle_in_mimalloc $seed $threads 0 $mode rest_books.json 256 a || fail "oracle without work"
  "$HEAPPROF_BIN" run -q --all-sites -o profile.json -- ./oracle_in_mimalloc $seed $threads $operations $mode books.json 256 a || fail "oracle $seed"
  check_profile profile.json
  "$PYTHON" "$SOURCE/tests/support/compare_oracle.py" books.json profile.json --rest rest.json --quiet || fail "the profile is not true"
done
expect_eq "allocators that were hooked" "$(json profile.json '.heapprof.coverage.inner_allocators[0]' | cut -d: -f1)" mimalloc

# Each of its own names, by the program's own books.
g++ -g -O1 -fno-builtin "$SOURCE/tests/targets/malloc/allocators/names.cc" mimalloc.o -o names -lpthread -ldl
profile ./names
expect_eq "exit status" "$status" 0
expect_complete
[ -s out.txt ] || fail "names called nothing"
"$PYTHON" "$SOURCE/tests/support/sites.py" profile.json books out.txt >books.txt
diff out.txt books.txt >&2 || fail "the books (<) are not those of the profile (>)"
