# heapprof push: a file and a process, to an address of Pyroscope's and to any other; what servers refuse is said, a
# token is in no command line, and a redirection takes it nowhere.
mkdir temporary
export TMPDIR=$PWD/temporary  # of no other test
have curl || skip "curl is not installed (apt-get install curl)"
at_end() { live_ends; [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true; }
"$PYTHON" "$SOURCE/tests/support/takes_pprof.py" &
server=$!
wait_for 60 "the port of takes_pprof.py" test -s port.txt
base=http://127.0.0.1:$(cat port.txt)
export no_proxy=127.0.0.1
with_leaky_profile leaky.json

expect_status 0 "$HEAPPROF_BIN" push "$base" leaky.json
expect_in err.txt "sent   leaky.json  "
path=$(json request.json .path)
begin=$(($(jq '.heapprof.run.start_unix_ns' leaky.json) / 1000000000))
case $path in
  "/ingest?name=leaky%7Bpid%3D"*"%2Ccommand%3Dleaky%2Cdevice%3Dhost%7D&from=$begin&until="*"&format=pprof") ;;
  *) fail "another path: $path" ;;
esac
expect_eq "the type" "$(json request.json '.headers["Content-Type"]')" application/octet-stream
expect_eq "the token" "$(json request.json '.headers.Authorization')" null
gzip -t <body.bin || fail "the body is not gzip'd"
cp body.bin first.bin
expect_status 0 "$HEAPPROF_BIN" push -q "$base/v1/pprof?x=1" leaky.json
expect_eq "what is said" "$(cat err.txt)" ""
expect_eq "another address is left as it is" "$(json request.json .path)" "/v1/pprof?x=1"
cmp first.bin body.bin || fail "the same profile was sent twice, and differs"
if have go && HOME=$PWD go tool pprof -h >/dev/null 2>&1; then
  HOME=$PWD go tool pprof -raw body.bin >raw.txt 2>err.txt || fail "pprof refuses it: $(cat err.txt)"
  expect_in raw.txt "inuse_space/bytes"
else
  not_tried "the body by Go's pprof"
fi
expect_status 0 "$HEAPPROF_BIN" push --name 'shop {"x}' "$base/ingest" leaky.json leaky.json
expect_in request.json "/ingest?name=shop%20%7B%22x%7D%7Bpid%3D"
expect_eq "lines said" "$(wc -l <err.txt)" 2

echo 0123456789abcdef >token
expect_status 0 "$HEAPPROF_BIN" push --token-file token "$base/" leaky.json
expect_eq "the token" "$(json request.json '.headers.Authorization')" "Bearer 0123456789abcdef"
expect_status 1 "$HEAPPROF_BIN" push --token-file token "$base/redirect" leaky.json
expect_in err.txt "it answered 307"
expect_eq "the redirection is not followed" "$(json request.json .path)" /redirect
expect_status 1 "$HEAPPROF_BIN" push "$base/401" leaky.json
expect_in err.txt "$base/401 did not take the profile: it answered 401: \\x1b[31mnot for you [HP268]"
expect_not_in err.txt "second line"
expect_status 1 "$HEAPPROF_BIN" push "$base/hang" leaky.json
expect_in err.txt "[HP268]"
expect_status 1 "$HEAPPROF_BIN" push "$base/garbage" leaky.json
expect_in err.txt "[HP268]"
expect_status 1 "$HEAPPROF_BIN" push http://127.0.0.1:1 leaky.json
expect_in err.txt "[HP268]"

holds_live_starts
expect_status 0 "$HEAPPROF_BIN" push "$base" "$target"
expect_in err.txt "sent   process $target  "
expect_in request.json "name=holds_live%7Bpid%3D$target%2Ccommand%3Dholds_live"
holds_live_ends
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'heapprof-push-*' -newer go)" ] || fail "a folder is left behind"

expect_status 2 "$HEAPPROF_BIN" push
expect_status 2 "$HEAPPROF_BIN" push "$base"
expect_in err.txt "fix:     heapprof push $base FILE"
for url in ftp://127.0.0.1/ file:///etc/passwd 127.0.0.1:80 "$base/ --output=x" $'http://127.0.0.1/\nurl = "file:///etc/passwd"'; do
  expect_status 2 "$HEAPPROF_BIN" push "$url" leaky.json
  expect_in err.txt "[HP052]"
done
expect_status 3 "$HEAPPROF_BIN" push "$base" none.json
expect_status 2 "$HEAPPROF_BIN" push --device cuda:7 "$base" leaky.json
expect_status 1 "$HEAPPROF_BIN" push "$base" 999999999
expect_in err.txt "[HP087]"
mkdir empty
PATH=$PWD/empty expect_status 1 "$HEAPPROF_BIN" push "$base" leaky.json
expect_in err.txt "[HP269]"
expect_in err.txt "apt-get install curl"
