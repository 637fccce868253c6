# Who may ask: names that are not the server's, pages of other sites, tokens; and what is no address.
obeys_starts
serves "$target"
gets 421 /metrics -H 'Host: evil.example'
expect_in body.txt "heapprof: error: the request is for the host 'evil.example', which is no name of this server [HP264]"
gets 421 /profile.json -H "Host: evil.example:${url##*:}"
gets 400 /metrics -H 'Host:'  # libmicrohttpd's own answer
gets 403 /debug/pprof/heap -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: no-cors'
gets 200 /debug/pprof/ -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: navigate'
gets 200 /metrics -H "Host: localhost:${url##*:}"
gets 405 /metrics -X POST
expect_in head.txt "Allow: GET, HEAD"
gets 413 /metrics -X GET -d body
gets 404 /debug/pprof/profile
expect_in body.txt "there is no /debug/pprof/profile here [HP266]"
expect_in head.txt "X-Go-Pprof: 1"
gets 404 "/pid/$$/metrics"
expect_in body.txt "process $$ is not served here"
gets 404 "/pid/1/profile.json"
gets 400 '/debug/pprof/heap?sekonds=1'
gets 400 '/debug/pprof/heap?debug=1&seconds=1'
gets 404 '/debug/pprof/heap?device=cuda:7'
expect_in body.txt "no process has used the device 'cuda:7', but: host"
gets 404 '/debug/pprof/heap?device=%3Cscript%3E'
expect_in head.txt "Content-Type: text/plain"
kill $serve
wait $serve || true

echo short >token
expect_status 2 "$HEAPPROF_BIN" serve --token-file token "$target"
expect_in err.txt "the file token holds no token: it has 5 characters, and 16 are the fewest [HP263]"
expect_status 2 "$HEAPPROF_BIN" serve --token-file none "$target"
expect_in err.txt "the file none holds no token: no such file or directory [HP263]"
printf 'with a blank in it' >token
expect_status 2 "$HEAPPROF_BIN" serve --token-file token "$target"
expect_status 2 "$HEAPPROF_BIN" serve --listen 0.0.0.0:0 "$target"
expect_in err.txt "0.0.0.0:0 can be reached from other machines, and no token keeps them out [HP262]"
HEAPPROF_SERVE_TOKEN=short expect_status 2 "$HEAPPROF_BIN" serve "$target"
expect_in err.txt "the variable HEAPPROF_SERVE_TOKEN holds no token"

echo 0123456789abcdef >token
serves --listen 0.0.0.0:0 --token-file token --host render.example "$target"
gets 401 /metrics
expect_in head.txt 'WWW-Authenticate: Bearer realm="heapprof"'
expect_in body.txt "[HP265]"
gets 401 /metrics -H 'Authorization: Bearer 0123456789abcdeF'
gets 200 /metrics -H 'Authorization: Bearer 0123456789abcdef'
gets 200 /metrics -u any:0123456789abcdef
gets 200 /metrics -u any:0123456789abcdef -H 'Host: render.example'
gets 421 /metrics -u any:0123456789abcdef -H 'Host: other.example'
tr '\0' ' ' <"/proc/$serve/cmdline" >line.txt
expect_not_in line.txt 0123456789abcdef
kill $serve
wait $serve || true
echo end >&8
wait $run
