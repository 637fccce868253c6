# Programs that cannot load the agent, started by one that can: not a line of the loader's, the status they would have
# had, a note.
cat >hello.c <<'END'
#include <stdio.h>
int main(void) { puts("hello"); return 7; }
END
cat >count.py <<'END'
import json, glob
notes = {}
for name in glob.glob("p*.json"):
    for note in json.load(open(name))["heapprof"]["unprofiled_programs"]:
        key = note["path"].rsplit("/", 1)[-1] + ": " + note["reason"]
        notes[key] = notes.get(key, 0) + note["starts_count"]
print("; ".join(f"{key} x{count}" for key, count in sorted(notes.items())))
END
tried=""
run_children() {  # shell command, expected stdout, expected notes
  rm -f p*.json
  status=0
  "$HEAPPROF_BIN" run -q -o p.json sh -c "$1" >out.txt 2>err.txt || status=$?
  expect_eq "stdout of '$1'" "$(cat out.txt)" "$2"
  expect_eq "stderr of '$1'" "$(cat err.txt)" ""
  expect_eq "notes of '$1'" "$("$PYTHON" count.py)" "$3"
}

if have musl-gcc; then
  musl-gcc hello.c -o hello_musl
  printf '#!%s\n' "$PWD/hello_musl" >script_musl
  chmod +x script_musl
  run_children './hello_musl; echo $?; ./hello_musl; ./script_musl; :' "$(printf 'hello\n7\nhello\nhello')" "hello_musl: made for another C library x2; script_musl: made for another C library x1"
  # One that has no name any more.
  expect_status 7 "$HEAPPROF_BIN" run -q -o p.json "$TARGETS/exec_family" fexecve_deleted ./hello_musl
  expect_eq "stdout of a nameless program" "$(cat out.txt)" hello
  tried="$tried musl"
fi
if gcc -m32 hello.c -o hello_32 2>/dev/null && [ "$(./hello_32 2>/dev/null)" = hello ]; then  # not every kernel runs them
  run_children './hello_32; echo $?' "$(printf 'hello\n7')" "hello_32: a program for another machine x1"
  tried="$tried 32-bit"
fi
gcc -static hello.c -o hello_static
run_children './hello_static; echo $?' "$(printf 'hello\n7')" "hello_static: statically linked x1"
if [ "$(id -u)" = 0 ]; then
  # Another root folder, where the agent is not.
  gcc hello.c -o hello
  mkdir -p root/lib64 root/lib/x86_64-linux-gnu
  cp hello root/
  cp /lib64/ld-linux-x86-64.so.2 root/lib64/
  cp /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu/
  run_children "chroot root /hello; echo \$?" "$(printf 'hello\n7')" "hello: cannot read the agent: another root folder or user x1"
  # Another user, who may not read the agent.
  if have setpriv; then
    mkdir -p private/bin private/lib
    cp "$HEAPPROF_BIN" private/bin/
    cp -r "$BUILD/lib/heapprof" private/lib/
    chmod 700 private
    program=$(mktemp /tmp/heapprof-hello.XXXXXX)
    cp hello "$program" && chmod 755 "$program"
    rm -f p*.json
    status=0
    private/bin/heapprof run -q -o p.json setpriv --reuid=65534 --regid=65534 --clear-groups "$program" >out.txt 2>err.txt || status=$?
    rm -f "$program"
    expect_eq "stdout of another user's program" "$(cat out.txt)" hello
    expect_eq "stderr of another user's program" "$(cat err.txt)" ""
    expect_eq "its status" $status 7
    tried="$tried user"
  fi
  tried="$tried chroot"
fi
echo "tried: static$tried" >&2

# Programs that lose the environment are followed all the same.
rm -f p*.json
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json env -i /bin/sh -c 'unset LD_PRELOAD HEAPPROF; /bin/ls / >/dev/null; exec /usr/bin/env'
expect_eq "programs followed" "$(jq -r '.heapprof.run.executable | split("/") | last' p*.json | sort | xargs)" "dash env env ls"

# The program itself becomes one of them: its profile ends there, and it is said.
rm -f p*.json
expect_status 7 "$HEAPPROF_BIN" run -o p.json sh -c 'exec ./hello_static'
expect_end exec 0 p.json
expect_in err.txt "the process became ./hello_static, which cannot be profiled (statically linked): the profile ends there [HP069]"
