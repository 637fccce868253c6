# speedscope itself opens the export: no error, every profile with its total in bytes, functions with theirs. It comes
# from npm, and is kept in ~/.cache/heapprof.
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
  missing chromium "Chromium is not installed (apt-get install chromium)"
have python3 || skip "python3 is not installed"
cache=$HEAPPROF_TEST_CACHE
release=$cache/speedscope-1.25.0/package/dist/release
if [ ! -f "$release/index.html" ]; then
  have npm || missing speedscope "speedscope is not here, and neither is npm to fetch it (apt-get install npm)"
  timeout 120 npm pack --silent speedscope@1.25.0 >npm.txt 2>&1 || missing speedscope "npm cannot fetch speedscope here: $(tail -n 1 npm.txt)"
  mkdir -p "$cache/speedscope-1.25.0"
  tar xzf speedscope-1.25.0.tgz -C "$cache/speedscope-1.25.0"
fi

for kind in small hostile random; do
  "$BUILD/tests/make_profile" "$kind" >"$kind.json"
  "$HEAPPROF_BIN" export -q --format speedscope -o "$kind.speedscope.json" "$kind.json"
done
"$PYTHON" "$SOURCE/tests/support/speedscope.py" "$release" small.speedscope.json hostile.speedscope.json random.speedscope.json

# The check itself: an amount that is not the file's must be noticed.
jq -c '.profiles[0].unit = "none"' small.speedscope.json >wrong.json
if "$PYTHON" "$SOURCE/tests/support/speedscope.py" "$release" wrong.json >wrong.txt; then cat wrong.txt >&2; fail "a unit that is not bytes was not noticed"; fi
