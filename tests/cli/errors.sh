# Errors: the exact words, the exit status, nothing on stdout.
# refused STATUS COMMAND…: what it says is on stdin
refused() {
  local status=$1
  shift
  cat >want.txt
  expect_status "$status" "$HEAPPROF_BIN" "$@"
  cmp -s want.txt err.txt || { diff want.txt err.txt >&2 || true; fail "other words for: heapprof $*"; }
  [ ! -s out.txt ] || fail "heapprof $* wrote on stdout"
}
export LC_ALL=C.UTF-8

refused 2 reprot x.json <<'WORDS'
heapprof: error: unknown command: reprot; did you mean report? [HP055]
  fix:     see the commands: heapprof --help
  instead: to profile a program of that name: heapprof run -- reprot
WORDS
refused 2 --versoin <<'WORDS'
heapprof: error: unknown flag: --versoin; did you mean --version? [HP050]
  fix:     see the flags: heapprof --help
WORDS
refused 2 report <<'WORDS'
heapprof: error: no profile was named [HP056]
  fix:     heapprof report FILE
  instead: make one: heapprof run -- PROGRAM
WORDS
refused 2 report --tpo 3 x.json <<'WORDS'
heapprof: error: unknown flag: --tpo; did you mean --top? [HP050]
  fix:     see the flags: heapprof report --help
WORDS
refused 2 report --top many x.json <<'WORDS'
heapprof: error: --top takes a number from 1 to 1,000,000, not 'many' [HP052]
  fix:     give --top another value, or leave it out
WORDS
refused 2 report x.json --sort <<'WORDS'
heapprof: error: --sort needs a value [HP059]
  fix:     --sort METRIC
WORDS
refused 2 report a.json b.json <<'WORDS'
heapprof: error: 'b.json' is one argument too many [HP058]
  fix:     see the usage: heapprof report -h
WORDS
refused 2 report --device gpu "$SOURCE/tests/golden/profile/small.json" <<'WORDS'
heapprof: error: the profile has no device 'gpu', only host, cuda:0 [HP057]
  fix:     name one of them, or leave --device out
WORDS
ln -s "$SOURCE/tests/golden/foreign/valgrind_heap.json" dhat.out
refused 2 report --sort temporary dhat.out <<'WORDS'
heapprof: error: dhat.out does not have the metric temporary: its tool does not count it [HP067]
  fix:     go by something else, such as total
  instead: profile the program with heapprof run, which counts them
WORDS
refused 3 report "no such file" <<'WORDS'
heapprof: error: no such file cannot be read: no such file or directory [HP060]
  fix:     look for it: ls -l 'no such file'
  instead: make a profile: heapprof run -o FILE -- PROGRAM
WORDS
echo '{}' >empty.json
refused 3 report empty.json <<'WORDS'
heapprof: error: empty.json is JSON, but no profile: there is no dhatFileVersion [HP062]
  fix:     name a profile of heapprof run, of valgrind --tool=dhat or of dhat-rs
WORDS

# run: every error of ours is 125, but for 126 and 127.
refused 125 run --tpo -- ls <<'WORDS'
heapprof: error: unknown flag: --tpo [HP050]
  fix:     see the flags: heapprof run --help
  instead: if it is the program's own flag, put it after the program
WORDS
refused 125 run -q <<'WORDS'
heapprof: error: no program to run was named [HP051]
  fix:     heapprof run -- PROGRAM ARGUMENTS
  instead: read a profile that exists: heapprof report FILE
WORDS
refused 125 run --on-full=maybe ls <<'WORDS'
heapprof: error: --on-full takes wait or drop, not 'maybe' [HP052]
  fix:     give --on-full another value, or leave it out
WORDS
refused 127 run ./no-such-program <<'WORDS'
heapprof: error: no such program: ./no-such-program [HP001]
  fix:     check the path, or build the program first
  instead: name any installed program, for example: heapprof run -- ls
WORDS
refused 127 run no-such-program <<'WORDS'
heapprof: error: no such program in PATH: no-such-program [HP001]
  fix:     give its path: heapprof run ./no-such-program
  instead: name any installed program, for example: heapprof run -- ls
WORDS
mkdir folder
refused 126 run ./folder <<'WORDS'
heapprof: error: ./folder is a directory, not a program [HP003]
  fix:     name a program in it: ls ./folder
WORDS
echo "echo hello" >plain
refused 126 run ./plain <<'WORDS'
heapprof: error: ./plain cannot be executed: permission denied [HP002]
  fix:     chmod +x ./plain
  instead: if it is a script: heapprof run -- INTERPRETER ./plain
WORDS

# A name that would move the cursor does not.
printf -v hostile './\033[2Jx'
expect_status 127 "$HEAPPROF_BIN" run "$hostile"
expect_in err.txt 'no such program: ./\x1b[2Jx [HP001]'

# A program that the agent cannot enter is not started, and the way out is one that works.
printf '#include <stdlib.h>\nint main(void) { return malloc(1235) == 0; }\n' >small.c
if gcc -fsanitize=address small.c -o asan 2>/dev/null; then
  refused 125 run ./asan <<'WORDS'
heapprof: error: ./asan is built with AddressSanitizer, which replaces malloc itself and must be loaded first [HP012]
  fix:     build it without -fsanitize=address
WORDS
fi
if gcc -static small.c -o static 2>/dev/null; then
  refused 125 run ./static <<'WORDS'
heapprof: error: ./static is statically linked: there is no loader to preload the agent [HP004]
  fix:     link it dynamically (drop -static)
  instead: keep all static but libc: -static-libstdc++ -static-libgcc -l:libNAME.a
WORDS
fi
if gcc -m32 small.c -o program32 2>/dev/null; then
  expect_status 125 "$HEAPPROF_BIN" run ./program32
  expect_in err.txt "./program32 is a 32-bit x86 program"
fi
if have musl-gcc && musl-gcc small.c -o musl 2>/dev/null; then
  expect_status 125 "$HEAPPROF_BIN" run ./musl
  expect_in err.txt "./musl is loaded by /lib/ld-musl-x86_64.so.1"
fi

# Colour of the word, only when it is wanted.
expect_status 2 "$HEAPPROF_BIN" report --color=always --top 0 x.json
expect_in err.txt $'\033[31merror\033[0m'
expect_status 3 "$HEAPPROF_BIN" report --color=always empty.json
expect_in err.txt $'\033[31merror\033[0m'
NO_COLOR=1 expect_status 3 "$HEAPPROF_BIN" report --color=auto empty.json
expect_not_in err.txt $'\033'
