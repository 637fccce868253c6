// tests/targets/threads/signals.cc: a timer of 1 kHz whose handler allocates, while the program allocates all the time.
//
// usage: signals plain|altstack|jump HANDLER_RUNS
// The allocator behind it (plugins/bump_malloc.cc) may be interrupted anywhere. `jump` leaves every handler by
// siglongjmp. Prints "MAIN HANDLER JUMPS": calls that returned in the program and in handlers, and how often a handler
// jumped out.
#include "../keep.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile uint64_t g_main, g_handler, g_jumps;
static volatile bool g_jump;
static sigjmp_buf g_target;

extern "C" KEEP_FRAME void allocate_in_handler(int) {
  void* block = keep(malloc(1237));
  g_handler = g_handler + 1;
  free(block);
  if (!g_jump) return;
  g_jumps = g_jumps + 1;
  siglongjmp(g_target, 1);
}

KEEP_FRAME void allocate_in_main(unsigned depth) {
  if (depth > 0) return allocate_in_main(depth - 1), (void)keep(nullptr);
  void* block = keep(malloc(1235));
  g_main = g_main + 1;
  free(block);
}

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  auto runs = static_cast<uint64_t>(atol(argv[2]));
  struct sigaction action = {};
  action.sa_handler = allocate_in_handler;
  static char stack[65536];
  if (strcmp(argv[1], "altstack") == 0) {
    stack_t other = {};
    other.ss_sp = stack;
    other.ss_size = sizeof(stack);
    sigaltstack(&other, nullptr);
    action.sa_flags |= SA_ONSTACK;
  }
  g_jump = strcmp(argv[1], "jump") == 0;
  sigaction(SIGALRM, &action, nullptr);
  struct itimerval timer = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  while (g_handler < runs) {
    sigsetjmp(g_target, 1);
    for (unsigned inner = 0; inner < 50 && g_handler < runs; ++inner) allocate_in_main(inner % 8);
  }
  timer = {};
  setitimer(ITIMER_REAL, &timer, nullptr);
  signal(SIGALRM, SIG_IGN);
  char text[100];
  int length = snprintf(text, sizeof(text), "%lu %lu %lu\n", g_main, g_handler, g_jumps);
  return fwrite(text, 1, static_cast<size_t>(length), stdout) == 0 ? 97 : 0;
}
