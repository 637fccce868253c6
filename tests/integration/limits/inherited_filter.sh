# A program that is started under a filter which allows what the loader, libc and the program call, and kills for any
# other call: the agent's start makes none. The program is not profiled, and runs as without us.
cat >filtered.c <<'END'
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define COUNT(array) (sizeof(array) / sizeof *(array))
int main(int argc, char** argv) {
  const int calls[] = {SYS_read, SYS_write, SYS_openat, SYS_close, SYS_fstat, SYS_newfstatat, SYS_mmap, SYS_mprotect,
                       SYS_munmap, SYS_brk, SYS_pread64, SYS_access, SYS_arch_prctl, SYS_set_tid_address,
                       SYS_set_robust_list, SYS_rseq, SYS_prlimit64, SYS_getrandom, SYS_exit_group, SYS_execve,
                       SYS_futex, SYS_lseek, SYS_ioctl};
  struct sock_filter code[2 * COUNT(calls) + 2];
  unsigned n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < COUNT(calls); ++i) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const struct sock_fprog program = {(unsigned short)n, code};
  const char* more = getenv("MORE_GROUPS");
  gid_t groups[600];
  for (unsigned i = 0; i < COUNT(groups); ++i) groups[i] = 1000000 + i;
  if (more != NULL && setgroups(COUNT(groups), groups)) return 78;
  if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 1;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 77;
  execve(argv[1], argv + 1, (char**){environ});
  return 1;
}
END
sed -i '1i #define _GNU_SOURCE' filtered.c
cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  void* volatile block = malloc(1236);
  printf("%d\n", block != NULL);
  return 7;
}
END
gcc filtered.c -o filtered
gcc program.c -o program
status=0
./filtered ./program >plain.txt || status=$?
[ $status != 77 ] || skip "no seccomp filters here"
[ $status = 7 ] || skip "this libc's start calls more than the filter allows: it ends with $status"
expect_status 7 "$HEAPPROF_BIN" run -q -o p.json ./filtered ./program
cmp out.txt plain.txt || fail "the program prints something else"

# In /proc the groups stand before the filters: 600 of them take 4,800 bytes.
status=0
MORE_GROUPS=1 ./filtered ./program >/dev/null || status=$?
if [ $status = 78 ]; then
  not_tried "groups cannot be set here"
else
  expect_status 7 env MORE_GROUPS=1 "$HEAPPROF_BIN" run -q -o g.json ./filtered ./program
  cmp out.txt plain.txt || fail "with many groups the program prints something else"
fi

# A handler that allocates while heapprof looks for functions, before the program's first block (early_calls): there
# signals cannot be blocked.
parts=$SOURCE/tests/targets/start/early
gcc -shared -fPIC "$parts/interrupts.c" -o libinterrupts.so
gcc -fno-builtin "$parts/handles.c" -o handles -L. -linterrupts -Wl,-rpath,"$PWD"
sed 's/SYS_execve,/SYS_execve, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_tgkill, SYS_getpid, SYS_gettid,/' filtered.c >signals.c
gcc signals.c -o signals
expect_status 41 ./signals ./handles
expect_status 42 "$HEAPPROF_BIN" run -q -o h.json ./signals ./handles

# Where /proc is not mounted they cannot be counted.
unshare --mount true 2>/dev/null || { not_tried "no mount namespaces here"; exit 0; }
cat >hides.sh <<'END'
mount -t tmpfs none /proc 2>/dev/null || exit 78
exec "$@"
END
sed -i 's/SYS_execve,/SYS_execve, SYS_prctl,/' filtered.c
gcc filtered.c -o filtered
status=0
unshare --mount "$HEAPPROF_BIN" run -q -o q.json sh hides.sh ./filtered ./program >out.txt 2>err.txt || status=$?
[ $status != 78 ] || { not_tried "nothing can be mounted here"; exit 0; }
expect_eq "exit status without /proc" $status 7
cmp out.txt plain.txt || fail "without /proc the program prints something else"
