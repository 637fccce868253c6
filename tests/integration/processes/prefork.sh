# A server that forks a process for each connection: each has its profile, and the server ends as it would alone.
server=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -n "$server" ] || skip "postgres is not installed (apt-get install postgresql)"
[ "$(id -u)" = 0 ] && id postgres >/dev/null 2>&1 && have setpriv || skip "postgres runs as a user of its own: needs root and setpriv"
place=$(mktemp -d /tmp/heapprof-pg.XXXXXX)
trap 'rm -rf "$place"' RETURN
chmod 755 . && cp -r "$(dirname "$HEAPPROF_BIN")" "$BUILD/lib" "$place/"
chown -R postgres "$place"
cat >serve.sh <<'END'
cd "$1" && "$2/initdb" -D data >init.txt 2>&1 || exit 9
bin/heapprof run --all-processes -o pg.json "$2/postgres" -D data -k "$1" -c listen_addresses= >out.txt 2>err.txt &
for try in $(seq 600); do "$2/pg_isready" -q -h "$1" && break; sleep 0.1; done
for client in 1 2 3 4 5; do "$2/psql" -h "$1" -d postgres -tc 'select count(*) from generate_series(1, 1000)' >>answers.txt || exit 8; done
"$2/pg_ctl" -D data stop -m fast >/dev/null
wait $!
END
status=0
setpriv --reuid=postgres --regid=postgres --clear-groups bash "$PWD/serve.sh" "$place" "$server" || status=$?
[ $status = 0 ] || { cat "$place"/*.txt >&2; fail "status $status"; }
expect_eq "answers" "$(tr -d ' \n' <"$place/answers.txt")" 10001000100010001000
profiles=$(ls "$place"/pg*.json | wc -l)
[ "$profiles" -ge 10 ] || fail "$profiles profiles of a server, its 5 helpers and 5 connections"
for file in "$place"/pg*.json; do expect_eq "events lost in $file" "$(counter lost_count "$file")" 0; done
