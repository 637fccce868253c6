# Helpers for the scripts of tests/cli (sourced by run_script.sh after checks.sh): one environment for all, exact words,
# and what is made once.

export LC_ALL=C.UTF-8 TZ=UTC
unset COLUMNS  # 100, and no sentence is broken
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY GITHUB_SHA CI_COMMIT_SHA
golden=$SOURCE/tests/golden
small=$golden/profile/small.json  # of "./render": devices host and cuda:0
foreign=$golden/foreign

check() { "$HEAPPROF_BIN" check "$@"; }

# says FILE: the file is, to the byte, what stands on stdin
says() {
  cat >want.txt
  cmp -s want.txt "$1" || { diff want.txt "$1" >&2 || true; fail "other words in $1"; }
}

# refused STATUS ARGUMENTS…: heapprof says what stands on stdin, ends with the status, and writes nothing on stdout (but
# for the verdicts of heapprof check, which has one for each profile, judged or not)
refused() {
  expect_status "$1" "$HEAPPROF_BIN" "${@:2}"
  says err.txt
  [ ! -s out.txt ] || [ "$2" = check ] || fail "heapprof ${*:2} wrote on stdout"
}

# on_terminal COLUMNS FILE COMMAND…: what the command says on a terminal of that width and 24 lines
on_terminal() { "$PYTHON" "$SOURCE/tests/support/on_terminal.py" "$@"; }

# states FILE: the same without colours and other escape sequences, each state of a line that is drawn again on its own
states() { sed 's/\x1b\[[0-9;]*[A-Za-z]//g; s/\r*$//; s/\r/\n/g' "$1"; }

# screen FILE: only the last state of each line
screen() { sed 's/\x1b\[[0-9;]*[A-Za-z]//g; s/\r*$//; s/.*\r//' "$1"; }

# ---- what is made once for each build of the tool, the agent and the programs, and is kept in the build folder ----

# made NAME FUNCTION: the files that FUNCTION makes in an empty folder, in the current folder
made() {
  local kept fresh
  kept=$(stat -c %.Y "$HEAPPROF_BIN" "$BUILD/lib/heapprof/libheapprof.so" "$TARGETS/leaky" "$TARGETS/planted_churn" \
    "$SOURCE/tests/support/cli_checks.sh" "$small")
  kept=$BUILD/tests/made/$1.${kept//[^0-9]/}
  if [ ! -d "$kept" ]; then
    mkdir -p "$BUILD/tests/made"
    fresh=$(mktemp -d "$BUILD/tests/made/fresh.XXXXXX")
    (cd "$fresh" && "$2") || { rm -rf "$fresh"; fail "$2 made nothing"; }
    mv -T "$fresh" "$kept" 2>/dev/null || rm -rf "$fresh"  # another script was faster
  fi
  cp "$kept"/* .
}

record_leaky() { cp "$TARGETS/leaky" . && "$HEAPPROF_BIN" run -q -o leaky.json ./leaky && rm leaky; }
# with_leaky_profile FILE: a profile of ./leaky: 9 allocations, of which 5 with 6175 bytes are leaked
with_leaky_profile() { made leaky record_leaky && { [ "$1" = leaky.json ] || mv leaky.json "$1"; }; }

record_churn() { "$HEAPPROF_BIN" run -q -o churn.json "$TARGETS/planted_churn"; }

# with_suite: leaky, and a script of that name that starts it twice, and a shell that fails
with_suite() {
  cp "$TARGETS/leaky" .
  printf '%s\n' ./leaky './leaky more' 'sh -c "exit 5"' : >suite.sh
}

# outcomes FILE: the verdicts in heapprof check's JSON
outcomes() { jq -r '.checks[] | .name + ": " + .outcome' "$1" | paste -sd ';'; }

# grown BYTES PROFILE: the same with a larger peak and leak of its largest site, of which nobody knows when it began
grown() {
  jq -c --argjson more "$1" '.pps[0] |= (.tb += $more | .mb += $more | .gb += $more | .eb += $more) | .heapprof.devices[0] |=
    (del(.bounds_ns, .sites.stayed, .sites.stays) | (.totals | .total_bytes, .peak_bytes, .leaked_bytes) += $more |
     (.timeline | .min_bytes[], .max_bytes[]) |= if . > 0 then . + $more else . end)' "$2"
}
# with_grown_profile FILE: a profile of ./leaky, and grown.json, which is 100,000 bytes larger; the report takes it for
# a profile
with_grown_profile() {
  made grown record_grown
  [ "$1" = leaky.json ] || mv leaky.json "$1"
}
record_grown() { record_leaky && grown 100000 leaky.json >grown.json && "$HEAPPROF_BIN" report grown.json >report.txt && rm report.txt; }

# with_profiles_to_merge: a.json, b.json and c.json, all of ./leaky
with_profiles_to_merge() {
  with_leaky_profile a.json
  cp a.json b.json
  cp a.json c.json
}

# plant_history: ci.jsonl, 30 runs on two devices: peak steps by 10 % at the 21st, total drifts by 0.3 % a run,
# allocations do nothing
plant_history() {
  "$PYTHON" - >ci.jsonl <<'MAKE'
import json
for i in range(30):
    for device, factor in (("host", 1), ("cuda:0", 2)):
        record = {"version": 1, "time_unix_ns": (1795000000 + 3600 * i) * 10**9, "commit": f"{i:02x}" + 38 * "0", "name": "render-small",
                  "command": ["./render"], "device": device, "ok": i < 20,
                  "peak_bytes": factor * (104857600 + (10485760 if i >= 20 else 0)), "allocations_count": 1840212}
        if device == "host":
            record["total_bytes"] = 1 << 30 | i * 3 << 20
        print(json.dumps(record, separators=(",", ":")))
MAKE
}

# write_check_outputs: small.json, the same with hostile names and of a program that failed, and all that heapprof check
# writes of the three
write_check_outputs() {
  cp "$small" small.json
  "$PYTHON" - <<'PY'
import json
profile = json.load(open("small.json"))
bad = "evil<&>\"'|`*_@all %0A::error::,:]]>"
frames = [i for i, frame in enumerate(profile["ftbl"]) if "build_index" in frame]
for i in frames:
    profile["ftbl"][i] = profile["ftbl"][i].split(":")[0] + ": " + bad + "(int) (src/a b,c:d%.cc:7)"
profile["heapprof"]["run"]["command"][0] = "./" + bad.replace("/", "")
json.dump(profile, open("hostile.json", "w"))
failed = json.load(open("small.json"))
failed["heapprof"]["run"]["end"] = "exited"
failed["heapprof"]["run"]["status"] = 3
json.dump(failed, open("failed.json", "w"))
PY
  local all=(--summary out.md --junit out.xml --codequality out.cq.json --metrics out.txt.om --sarif out.sarif --json out.json --bmf out.bmf --gha-benchmark out.gha)
  local limits=(--max-peak 1KiB --max-leaked 1MiB --max-peak cuda:0=1MiB --max-allocations 1 --max-temporary 100%)
  expect_status 4 "$HEAPPROF_BIN" check "${limits[@]}" "${all[@]}" --annotations github small.json hostile.json failed.json
  cp out.txt said.txt
  for file in out.*; do [ -s "$file" ] || fail "$file is empty"; done
}

# holds_live_starts: heapprof profiles holds_live (pids $run, $target), which waits for a word through the pipe on
# descriptor 8
holds_live_starts() {
  mkfifo go said
  "$HEAPPROF_BIN" run -q -o final.json "$TARGETS/holds_live" <go >said &
  run=$!
  exec 8>go 9<said
  read -r -t 60 word <&9
  expect_eq "the program" "$word" held
  target=$(pgrep -P "$run" -x holds_live)
}
# holds_live_ends: it is let go, and ends well
holds_live_ends() {
  echo go >&8
  status=0
  wait $run || status=$?
  expect_eq "the program's end" $status 0
}
# numbers PROFILE: bytes in all, bytes and blocks at the end, bytes at the peak
numbers() { jq -c '[([.pps[].tb] | add), ([.pps[].eb] | add), ([.pps[].ebk] | add), ([.pps[].gb] | add)]' "$1"; }

# live_ends: a script that fails leaves nobody behind
live_ends() {
  local pid
  for pid in ${run:-} ${target:-} ${top:-} ${serve:-}; do kill -9 "$pid" 2>/dev/null || true; done
  if have tmux; then in_tmux kill-server 2>/dev/null || true; fi
}

# obeys_starts: heapprof profiles obeys (pids $run, $target), which does what `obeys WORD` says and answers
obeys_starts() {
  mkfifo go said
  declare -F at_end >/dev/null || at_end() { live_ends; }  # a script's own calls live_ends too
  "$HEAPPROF_BIN" run -q -o final.json "$@" "$TARGETS/obeys" <go >said &
  run=$!
  exec 8>go 9<said
  read -r -t 60 word <&9
  expect_eq "the program" "$word" ready
  target=$(pgrep -P "$run" -x obeys)
}
obeys() {
  local word
  echo "$1" >&8
  read -r -t 60 word <&9
  expect_eq "what it did" "$word" "$1"
}

# ---- a terminal that can be looked at: tmux, on a server of its own ----

# serves [OPTIONS] [PID…]: heapprof serve at a port that is free: pid $serve, $url
serves() {
  declare -F at_end >/dev/null || at_end() { live_ends; }  # a script's own calls live_ends too
  : >served.txt  # one of an earlier server is not taken for this one's
  "$HEAPPROF_BIN" serve --listen 0 "$@" 2>served.txt &
  serve=$!
  is_served
}
# is_served: waits until the server has said where it is
is_served() {
  url=
  for _ in $(seq 400); do
    url=$(sed -n 's#^serving \(http://[^/]*\)/.*#\1#p' served.txt)
    [ -z "$url" ] || return 0
    kill -0 "${serve:-$run}" 2>/dev/null || break
    sleep 0.05
  done
  fail "nothing serves: $(cat served.txt)"
}
# get PATH [curl's options]: the answer's body in body.txt, its head in head.txt, its status in $code
get() {
  local path=$1
  shift
  code=$(curl -sS --noproxy '*' --max-time 60 -o body.txt -D head.txt -w '%{http_code}' "$@" "$url$path") || fail "curl $path: $code"
}
# gets STATUS PATH [curl's options]
gets() {
  local status=$1
  shift
  get "$@"
  expect_eq "the status of $1" "$code" "$status"
}
# until_body TEXT PATH [curl's options]: asks again until the body has the text (fixed string) and the answer is good;
# what the server looks up each second, and a collector that is late, come into an answer sooner or later
until_body() { wait_for 60 "'$1' in the answer to $2" body_has "$@"; }
body_has() { get "${@:2}" && [ "$code" = 200 ] && grep -qF -- "$1" body.txt; }
# until_status STATUS PATH [curl's options]
until_status() { wait_for 60 "the answer $1 to $2" status_is "$@"; }
status_is() { get "${@:2}" && [ "$code" = "$1" ]; }

in_tmux() { tmux -L "heapprof.$$" -f /dev/null "$@"; }
# tmux_starts COLUMNS LINES: a shell in a terminal of that size
tmux_starts() {
  have tmux || skip "tmux is not here"
  declare -F at_end >/dev/null || at_end() { live_ends; }  # a script's own calls live_ends too
  TERM=xterm in_tmux new-session -d -x "$1" -y "$2" "env PS1='here> ' bash --norc --noprofile"
  shows 'here>'
}
types() { in_tmux send-keys "$@"; }
screen_now() { in_tmux capture-pane -p; }
# shows TEXT: the screen does, sooner or later
shows() {
  local i
  for i in $(seq 300); do
    screen_now | grep -qF -- "$1" && return
    sleep 0.1
  done
  screen_now >&2
  fail "'$1' is not on the screen"
}
shows_no_more() {
  local i
  for i in $(seq 300); do
    screen_now | grep -qF -- "$1" || return 0
    sleep 0.1
  done
  screen_now >&2
  fail "'$1' is still on the screen"
}
# terminal_state: on the other screen (1) or not, and the settings of the terminal
terminal_state() { in_tmux display-message -p '#{alternate_on} #{cursor_flag}'; stty -a -F "$(in_tmux display-message -p '#{pane_tty}')" | sed 's/rows [0-9]*; columns [0-9]*;//'; }
