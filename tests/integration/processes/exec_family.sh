# Every function that starts a program: the new program has the arguments and the environment that were meant, and is
# followed.
cat >show.c <<'END'
#include <stdio.h>
#include <stdlib.h>
extern char** environ;
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) puts(argv[i]);
  for (char** variable = environ; *variable; ++variable) puts(*variable);
  void* volatile block = malloc(1236);
  (void)block;
  return 41;
}
END
gcc show.c -o show
gcc -static show.c -o show_static
cp "$BUILD/lib/heapprof/libheapprof.so" "$PWD/other.so"  # any library that the user might preload
unset LD_PRELOAD

# What a program printed, without our two variables and what the shell says of the command before it.
without_ours() { sed -E "/^(HEAPPROF|_)=/d; s,^LD_PRELOAD=$BUILD/lib/heapprof/libheapprof.so:,LD_PRELOAD=,; /^LD_PRELOAD=$(sed 's,/,\\/,g' <<<"$BUILD")\/lib\/heapprof\/libheapprof.so$/d"; }

functions="execve execv execvp execvpe execl execlp execle fexecve execveat execveat_empty fexecve_deleted execl_nothing posix_spawn posix_spawnp vfork system"
for how in $functions; do
  for program in ./show ./show_static; do
    rm -f p*.json
    expect_status 41 "$TARGETS/exec_family" $how $program
    without_ours <out.txt >plain.txt
    expect_status 41 "$HEAPPROF_BIN" run -q -o p.json "$TARGETS/exec_family" $how $program
    without_ours <out.txt >shown.txt
    diff plain.txt shown.txt >&2 || fail "$how $program: another environment"
    sums=$(for file in p*.json; do jq -r '[.pps[] | select(.tb == 1235 or .tb == 1236) | .tb] | join(" ")' "$file"; done | grep -v '^$' | sort | xargs)
    if [ $program = ./show ]; then
      expect_eq "$how: blocks of both programs" "$sums" "1235 1236"
    else
      expect_eq "$how: blocks of the first program" "$sums" 1235
      # libc's own system() passes the hooks by; the shell's exec does not
      expect_eq "$how: static programs noted" "$(jq -s '[.[].heapprof.unprofiled_programs[] | select(.reason == "statically linked") | .starts_count] | add' p*.json)" 1
    fi
  done
done

# The user's own preloads stay behind ours, in their order and place.
for how in execve posix_spawn; do
  expect_status 41 env USER_PRELOAD=$PWD/other.so "$TARGETS/exec_family" $how ./show
  mv out.txt plain.txt
  expect_status 41 env USER_PRELOAD=$PWD/other.so "$HEAPPROF_BIN" run -q -o q.json "$TARGETS/exec_family" $how ./show
  expect_eq "place of LD_PRELOAD" "$(grep -n '^LD_PRELOAD=' out.txt)" "4:LD_PRELOAD=$BUILD/lib/heapprof/libheapprof.so:$PWD/other.so"
  without_ours <out.txt | diff plain.txt - >&2 || fail "$how: another environment with the user's preload"
done

# A program that is not there, or may not be executed: errno as without us, and nothing is noted.
touch no_program
for how in $functions; do
  [ $how = system ] && continue
  for program in ./missing ./no_program; do
    status=0
    "$TARGETS/exec_family" $how $program >plain.txt 2>&1 || status=$?
    expect_status $status "$HEAPPROF_BIN" run -q -o f.json "$TARGETS/exec_family" $how $program
    cat err.txt >>out.txt
    diff plain.txt out.txt >&2 || fail "$how $program: another error"
    expect_eq "notes" "$(jq '.heapprof.unprofiled_programs | length' f.json)" 0
  done
done

# --no-follow: nothing of ours reaches any of them.
for how in $functions; do
  expect_status 41 "$HEAPPROF_BIN" run -q --no-follow -o n.json "$TARGETS/exec_family" $how ./show
  ! grep -E "^(HEAPPROF|LD_PRELOAD)=" out.txt >&2 || fail "$how: --no-follow leaves a variable"
done

# On the smallest stack there may be, with much that has to be changed; and with as much as either may have on it.
for sizes in "3000 6000" "900 3900"; do
  # shellcheck disable=SC2086  # two words
  expect_status 0 "$TARGETS/spawns_on_small_stack" $sizes
  mv out.txt plain.txt
  # shellcheck disable=SC2086
  expect_status 0 "$HEAPPROF_BIN" run -q -o small.json "$TARGETS/spawns_on_small_stack" $sizes
  expect_eq "a small stack with $sizes" "$(cat out.txt)" "$(cat plain.txt)"
done
# What only lists a program's libraries lists none of ours.
names() { sed 's/ (0x.*//' out.txt; }
expect_status 0 ldd /bin/true
names >plain.txt
expect_status 0 "$HEAPPROF_BIN" run -q -o ldd.json ldd /bin/true
expect_eq "ldd" "$(names)" "$(cat plain.txt)"
