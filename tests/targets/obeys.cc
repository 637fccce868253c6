// tests/targets/obeys.cc: does what each line on stdin says, and says the line back when it has: grow (1,000,003 bytes
// that stay), shrink (all of them go), churn (30,000 blocks that go at once), open and close (a scope "work", with
// 4,096 bytes in it), fork (a child that allocates and ends), exec (itself, from its beginning), end.
#include "keep.h"

#include <heapprof/heapprof.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void* held[64];
static int count;
static heapprof_name work = {nullptr, "work", 0};

KEEP_FRAME static void grow() {
  if (count < 64) held[count++] = keep(malloc(1000003));
}

KEEP_FRAME static void churn() {
  for (int i = 0; i < 30000; ++i) free(keep(malloc(48)));
}

static void say(const char* word) {
  struct iovec parts[] = {{const_cast<char*>(word), strlen(word)}, {const_cast<char*>("\n"), 1}};
  if (writev(1, parts, 2) < 0) _exit(98);
}

int main(int argc, char** argv) {
  (void)argc;
  char line[32];
  void* in_scope = NULL;
  heapprof_scope scope = {};
  free(keep(malloc(17)));
  say("ready");
  for (;;) {
    size_t size = 0;
    while (size + 1 < sizeof line && read(0, line + size, 1) == 1 && line[size] != '\n') ++size;
    line[size] = 0;
    if (size == 0 || strcmp(line, "end") == 0) return 0;
    if (strcmp(line, "grow") == 0) grow();
    if (strcmp(line, "churn") == 0) churn();
    if (strcmp(line, "shrink") == 0) {
      while (count > 0) free(held[--count]);
    }
    if (strcmp(line, "open") == 0) {
      heapprof_scope_begin(&scope, &work);
      in_scope = keep(malloc(4096));
    }
    if (strcmp(line, "close") == 0) {
      free(in_scope);
      heapprof_scope_end(&scope);
    }
    if (strcmp(line, "fork") == 0) {
      const pid_t child = fork();
      if (child == 0) {
        free(keep(malloc(99)));
        _exit(0);
      }
      waitpid(child, NULL, 0);
    }
    if (strcmp(line, "exec") == 0) execv("/proc/self/exe", argv);
    say(line);
  }
}
