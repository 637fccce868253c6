# `cmake --install` puts everything in its place, and the installed tree works wherever it is moved to.
expect_status 0 cmake --install "$BUILD" --prefix "$PWD/first"
mv first second
prefix=$PWD/second

[ -x "$prefix/bin/heapprof" ] || fail "bin/heapprof is missing"
agent=$(find "$prefix/lib" -name libheapprof.so)
expect_eq "the agent's folder" "$(basename "$(dirname "$agent")")" heapprof
for file in LICENSE THIRD_PARTY.md CHANGELOG.md; do
  [ -s "$prefix/share/doc/heapprof/$file" ] || fail "share/doc/heapprof/$file is missing"
done
[ -s "$prefix/include/heapprof/budget.hpp" ] || fail "include/heapprof/budget.hpp is missing"
for source in "$SOURCE"/shared/include/heapprof/*; do
  cmp "$source" "$prefix/include/heapprof/$(basename "$source")" || fail "the header is not installed as it is"
done
# The Python module, as it is, under the moved tool; and pytest finds its plugin, by the package's name and by the
# module's.
python_folder=$(find "$prefix/lib" -type d -path '*/heapprof/python')
diff -r -x __pycache__ "$SOURCE/shared/python/heapprof" "$python_folder/heapprof" || fail "the Python module is not installed as it is"
export PYTHONPATH=$python_folder PYTHONDONTWRITEBYTECODE=1
expect_status 0 "$prefix/bin/heapprof" run -q -o python.json -- "$PYTHON" -W error -c '
import importlib.metadata, heapprof
assert heapprof.version() == importlib.metadata.version("heapprof") and heapprof.stats().live_bytes > 0'
if "$PYTHON" -c 'import pytest' 2>/dev/null; then
  for named in "" "-p heapprof.pytest_plugin"; do
    # shellcheck disable=SC2086
    expect_status 0 "$PYTHON" -W error -m pytest $named --help
    expect_in out.txt "--heapprof=auto|required|off"
  done
else
  not_tried "the plugin for pytest: pytest is not installed"
fi
if [ -n "$(command -v scdoc)" ]; then
  for source in "$SOURCE"/man/*.scd; do
    [ -f "$source" ] || continue
    page=$(basename "$source" .scd)
    [ -s "$prefix/share/man/man${page##*.}/$page" ] || fail "the man page $page is missing"
  done
fi
if [ -d "$SOURCE/completions" ]; then
  for file in bash-completion/completions/heapprof zsh/site-functions/_heapprof fish/vendor_completions.d/heapprof.fish; do
    [ -s "$prefix/share/$file" ] || fail "share/$file is missing"
  done
fi

# The build's own agent must not be what the moved tool finds: the target names the library that is mapped into it.
expect_status 0 "$prefix/bin/heapprof" --version
expect_in out.txt "$(sed -n 's/^project(heapprof VERSION \([0-9.]*\).*/\1/p' "$SOURCE/CMakeLists.txt")"
expect_status 0 "$prefix/bin/heapprof" run -q -o profile.json -- bash -c 'grep libheapprof.so /proc/$$/maps; exit 0'
expect_in out.txt "$prefix/lib"
[ "$(json profile.json '[.pps[].tbk] | add')" -gt 100 ] || fail "bash allocates more than 100 blocks; the profile says $(json profile.json '[.pps[].tbk] | add')"

# Stripped, and still the tool's own profile has functions and lines: they come from the file beside it.
for file in "$prefix/bin/heapprof" "$agent"; do
  if readelf -SW "$file" | grep -qE ' \.(debug_info|symtab) '; then fail "$file is not stripped"; fi
  readelf -SW "$(dirname "$file")/.debug/$(basename "$file").debug" | grep -q ' \.debug_info ' || fail "the debug information of $file is missing"
done
expect_status 0 "$prefix/bin/heapprof" run -q -o own.json -- "$prefix/bin/heapprof" report profile.json
frames '^heapprof::cli::' own.json >own.txt
grep -q 'heapprof::cli::read_profile.*cli/read/read_profile\.cc:[0-9]' own.txt || fail "the installed tool's own profile has no lines: $(head -n 5 own.txt)"
