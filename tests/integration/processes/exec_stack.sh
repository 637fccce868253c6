# A handler of crashes starts its reporter on a small stack: what a program that is started takes of its caller's stack
# stays below 3.5 KiB, beyond what libc takes.
cat >takes.c <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static int how;
static int start(void* unused) {
  char* words[] = {"true", NULL};
  char* empty[] = {"A=1", NULL};
  (void)unused;
  switch (how) {
    case 0: execve("/bin/true", words, environ); break;
    case 1: execve("/bin/true", words, empty); break;
    case 2: execl("/bin/true", "true", (char*)NULL); break;
    case 3: execvp("true", words); break;
    case 4: execve("./script", words, environ); break;
  }
  return 99;
}
/* Prints a line for each way: its exit status, and how many bytes of a painted stack it has written to. */
int main(void) {
  enum { kBytes = 65536 };
  for (how = 0; how < 5; ++how) {
    unsigned char* stack = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status = 0, untouched = 0;
    memset(stack, 0xa5, kBytes);
    waitpid(clone(start, stack + kBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL), &status, 0);
    while (untouched < kBytes && stack[untouched] == 0xa5) ++untouched;
    printf("%d %d %d\n", how, status, kBytes - untouched);
  }
  return 0;
}
C
printf '#!/bin/sh\nexit 0\n' >script
chmod +x script
gcc -O1 takes.c -o takes -Wl,-z,now
./takes >plain.txt
profile ./takes
expect_eq "statuses" "$(cut -d' ' -f1,2 out.txt)" "$(printf '%d 0\n' 0 1 2 3 4)"
paste -d' ' plain.txt out.txt | awk '{ print "way " $1 ": " $3 " bytes, and " $6 " with us"; if ($6 > $3 + 3584) wrong = 1 } END { exit wrong || NR != 5 }' ||
  fail "starting a program takes more of the stack"

# What it takes in pages, for a large environment, a parent does not keep for each program that its vfork children have
# become.
cat >keeps.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static long pages(void) {
  long all = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &all) != 1) exit(2);
  fclose(file);
  return all;
}
int main(void) {
  static char* variables[4001];
  char* words[] = {"true", NULL};
  for (int i = 0; i < 4000; ++i) {
    if (asprintf(&variables[i], "A%d=%d", i, i) < 0) return 1;
  }
  long before = 0;
  for (int i = 0; i < 40; ++i) {
    if (i == 2) before = pages();
    if (vfork() == 0) {
      execve("/bin/true", words, variables);
      _exit(1);
    }
    wait(NULL);
  }
  printf("%ld\n", pages() - before);
  return 0;
}
C
gcc -O1 keeps.c -o keeps
if [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -le 1 ]; then
  profile ./keeps
  expect_eq "pages that stay after 38 programs" "$(cat out.txt)" 0
else
  not_tried "pages that stay: yama forbids to read a child's memory"
fi
