# A copy too many, planted in a program that Debian ships (Lua), is caught by the gate, which names the function that
# makes it; a rebuild without a change, in another folder, is no change. The source comes from Debian by apt-get, and is
# kept in ~/.cache/heapprof.
export LC_ALL=C.UTF-8
unset COLUMNS
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
for tool in apt-get dpkg-source cc; do have $tool || skip "$tool is not installed"; done
cache=$HEAPPROF_TEST_CACHE/lua-source

# Lists of its own: the machine's may have no sources, and are not ours to change.
fetch_source() {
  local apt=$PWD/apt
  mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
  sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$apt/parts/debian.sources" || return 1
  local -a own=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists"
    -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User= -o Acquire::http::Timeout=20)
  timeout 120 apt-get -q "${own[@]}" update >apt.log 2>&1 && (cd "$apt" && timeout 120 apt-get -q "${own[@]}" source --download-only lua5.4) >>apt.log 2>&1 || return 1
  mkdir -p "$cache.new.$$" && cp "$apt"/lua5.4_* "$cache.new.$$" && { mv -T "$cache.new.$$" "$cache" 2>/dev/null || rm -rf "$cache.new.$$"; }
}
ls "$cache"/*.dsc >/dev/null 2>&1 || fetch_source || skip "Debian's source of lua5.4 is not to be had: $(tail -2 apt.log 2>/dev/null | tr '\n' ' ')"

# build FOLDER: an interpreter, FOLDER/lua, of what lies in FOLDER/src
unpack() { mkdir -p "$(dirname "$1")" && dpkg-source --no-check -x "$cache"/*.dsc "$1" >/dev/null 2>&1 && echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >"$1/src/lua5.4-deb-multiarch.h"; }
build() { (cd "$1" && cc -g -O2 -std=gnu99 -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -o lua $(ls src/*.c | grep -v luac.c) -lm -ldl) || fail "Lua cannot be built"; }
unpack base && build base || fail "Debian's source of lua5.4 cannot be unpacked"
unpack elsewhere/again && build elsewhere/again

cat >work.lua <<'LUA'
local words = {}
for i = 1, 20000 do words[i] = "word number " .. i end
local pages = {}
for page = 1, 8 do pages[page] = table.concat(words, " ") .. page end
print(#pages, #pages[8])
LUA
work=$PWD/work.lua
here=$PWD
(cd base && "$HEAPPROF_BIN" run -q -o ../base.json -- ./lua "$work" >../said.txt) || fail "Lua does not run"
expect_complete base.json

# ---- no change ----
(cd elsewhere/again && "$HEAPPROF_BIN" run -q -o ../../again.json -- ./lua "$work" >/dev/null)
expect_status 0 "$HEAPPROF_BIN" diff --exit-code base.json again.json
expect_in out.txt "no change"
cp out.txt transcript.txt
(cd elsewhere/again && expect_status 0 "$HEAPPROF_BIN" check --baseline "$here/base.json" --tolerance 0% --slack 0B -- ./lua "$work" && cp out.txt "$here")
cat out.txt >>transcript.txt

# ---- the copy ----
# luaL_pushresult turns a buffer into a string; planted: it keeps a copy of each buffer.
unpack current
sed -i 's/^LUALIB_API void luaL_pushresult (luaL_Buffer \*B) {/static void *volatile last_copy;\n&\n  last_copy = memcpy(malloc(B->n + 1), B->b, B->n);/' current/src/lauxlib.c
grep -q 'last_copy = memcpy' current/src/lauxlib.c || fail "luaL_pushresult looks different: nothing was planted"
build current
(cd current && expect_status 1 "$HEAPPROF_BIN" check --baseline ../base.json --annotations github --summary ../step.md -- ./lua "$work")
mv current/out.txt check.txt
cp current/heapprof.check.lua.json current.json
line=$(line_of current/src/lauxlib.c 'last_copy = memcpy')
grep '^FAIL' check.txt | head -1 | grep -q "src/lauxlib.c:$line luaL_pushresult" || fail "the first line does not name it: $(cat check.txt)"
grep '^::error' check.txt | head -1 | grep -q "^::error file=src/lauxlib.c,line=$line,title=heapprof lua::host peak .*luaL_pushresult grew by" || fail "the annotation does not name it: $(cat check.txt)"
grep '^| fail' step.md | head -1 | grep -q 'luaL\\_pushresult grew by .*src/lauxlib.c:'"$line" || fail "the table does not name it: $(cat step.md)"
expect_status 1 "$HEAPPROF_BIN" diff --exit-code base.json current.json
grep -A1 '^peak change by place' out.txt | grep -q 'luaL_pushresult' || fail "diff does not begin with it: $(cat out.txt)"
cat check.txt step.md out.txt >>transcript.txt

# A fixed limit at the peak of before is exceeded by the copy, and by nothing else.
peak=$("$HEAPPROF_BIN" report --format json base.json | jq '.devices[0].peak_bytes')
(cd current && expect_status 1 "$HEAPPROF_BIN" check --max-peak "${peak}B" -- ./lua "$work")
(cd elsewhere/again && expect_status 0 "$HEAPPROF_BIN" check --max-peak "${peak}B" -- ./lua "$work")
cat transcript.txt
