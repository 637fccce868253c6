# A program that is there and cannot start, as the loader says, ends as it does without us; and heapprof says that there
# is no profile.
cat >library.c <<'C'
int two(void) { return 2; }
int three(void) { return 3; }
C
cat >program.c <<'C'
int three(void);
int main(void) { return three(); }
C
gcc -shared -fPIC library.c -o libthree.so
gcc program.c -L. -lthree -Wl,-z,now -o program
ends_as_natively() {  # WANT COMMAND…
  local want=$1 native=0
  shift
  "$@" >plain.txt 2>plain_err.txt || native=$?
  expect_eq "natively" $native "$want"
  expect_status "$want" "$HEAPPROF_BIN" run -o profile.json -- "$@"
  expect_in err.txt "$(head -1 plain_err.txt)"  # the loader's words
  expect_in err.txt "ended before an agent answered (exit 127): nothing was profiled"
  expect_in err.txt "[HP186]"
  expect_eq "profiles" "$(ls -A | grep -c '^\.\?profile')" 0
}
ends_as_natively 127 ./program  # no such library
export LD_LIBRARY_PATH=.
printf 'int two(void) { return 2; }\n' | gcc -shared -fPIC -x c - -o libthree.so
ends_as_natively 127 ./program  # no such function
printf 'cut' >libthree.so
ends_as_natively 127 ./program  # a library that is none
printf '#!/bin/sh\nexec ./program\n' >script
chmod +x script
expect_status 127 "$HEAPPROF_BIN" run -o script.json -- ./script  # the shell was profiled

# A signal before the start is the program's end, too.
cat >kills.c <<'C'
static int real_three(void) { return 3; }
// The loader calls this while it links the program, before it runs anything: getpid, kill.
static int (*resolve(void))(void) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(39L) : "rcx", "r11", "memory");
  __asm__ volatile("syscall" : "=a"(result) : "a"(62L), "D"(result), "S"(9L) : "rcx", "r11", "memory");
  return real_three;
}
int three(void) __attribute__((ifunc("resolve")));
C
gcc -shared -fPIC kills.c -o libthree.so
native=0
./program || native=$?
[ $native = 137 ] || { not_tried "a signal before the start"; exit 0; }
got=0
"$HEAPPROF_BIN" run -o killed.json -- ./program 2>err.txt || got=$?
expect_eq "exit status after SIGKILL" $got 137
[ -f killed.json ] || expect_in err.txt "ended before an agent answered (killed by SIGKILL): nothing was profiled"
