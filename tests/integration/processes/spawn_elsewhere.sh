# A program is looked at where the kernel will find it: from the folder that posix_spawn goes to, where no task can be
# made to look from, and without opening what is no file. One that cannot load the agent runs as without us; another one
# is profiled.
cat >spawn.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
extern char** environ;
/* spawn HOW FOLDER PROGRAM */
int main(int argc, char** argv) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!strcmp(argv[1], "fchdir")) posix_spawn_file_actions_addfchdir_np(&actions, open(argv[2], O_RDONLY | O_DIRECTORY));
  if (!strcmp(argv[1], "twice")) posix_spawn_file_actions_addchdir_np(&actions, "/");
  if (strcmp(argv[1], "fchdir")) posix_spawn_file_actions_addchdir_np(&actions, argv[2]);
  pid_t pid;
  int status;
  if (posix_spawn(&pid, argv[3], &actions, NULL, argv + 3, environ) || waitpid(pid, &status, 0) != pid) return 99;
  return argc == 4 ? WEXITSTATUS(status) : 98;
}
END
cat >block.c <<'END'
#include <stdlib.h>
int main(void) {
  void* volatile block = malloc(1236);
  (void)block;
  return 41;
}
END
gcc spawn.c -o spawn
mkdir -p sub
gcc -fsanitize=address -fno-sanitize=leak block.c -o sub/sanitized 2>gcc.txt || skip "no AddressSanitizer: $(head -n 1 gcc.txt)"
gcc block.c -o sub/ordinary
gcc block.c -o sanitized   # what stands under that name in the parent's folder is another one
export ASAN_OPTIONS=detect_leaks=0
ordinary_blocks() { for file in p*.json; do jq '[.pps[] | select(.tb == 1236)] | length' "$file"; done | jq -s add; }
run() { rm -f p*.json; expect_status 41 "$HEAPPROF_BIN" run -q -o p.json "$@"; }

for how in chdir fchdir; do
  run ./spawn $how sub ./sanitized
  run ./spawn $how sub ./ordinary
  expect_eq "$how: profiles with the block of the program" "$(ordinary_blocks)" 1
done
# Where it goes cannot be told: it runs, and that it was not profiled is said.
run ./spawn twice "$PWD/sub" ./sanitized
run ./spawn twice "$PWD/sub" ./ordinary
expect_eq "two folders: said" "$(jq -s '[.[].heapprof.unprofiled_programs[]?.reason]' p*.json | jq -r '.[]')" \
  "its file could not be read before it was started"

# The next task of the process would be the first of a namespace of processes: the kernel makes none for itself.
if unshare --pid true 2>/dev/null; then
  run unshare --pid sub/sanitized
  run unshare --pid sub/ordinary
  expect_eq "no task: profiles with the block of the program" "$(ordinary_blocks)" 1
else
  not_tried "a process without tasks: unshare --pid is refused"
fi

# An exec of a FIFO, which the kernel refuses, does not let in the process that waits at its other end.
mkfifo fifo && chmod +x fifo
(echo x >fifo; touch written) 2>/dev/null &
writer=$!
at_end() { kill $writer 2>/dev/null || true; }
wait_for 60 "a process that waits at the FIFO" sleeps_in $writer 257  # openat
expect_status 126 "$HEAPPROF_BIN" run -q -o p.json env ./fifo
sleep 0.2
[ ! -e written ] || fail "the exec of a FIFO opened it"
kill -0 $writer 2>/dev/null || fail "the process that waited at the FIFO waits no longer"
