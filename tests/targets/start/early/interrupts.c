// tests/targets/start/early/interrupts.c: an indirect function that sends a signal to whoever looks it up, once.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int g_is_awaited;
void await_look(void) { g_is_awaited = 1; }
int was_looked_up(void) { return !g_is_awaited; }

static int refuse(int fd, char* const* arguments, char* const* variables) {
  (void)fd, (void)arguments, (void)variables;
  return -1;
}
static int (*resolve(void))(int, char* const*, char* const*) {
  if (g_is_awaited) {
    g_is_awaited = 0;
    syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), SIGUSR1);
  }
  return refuse;
}
int fexecve(int fd, char* const* arguments, char* const* variables) __attribute__((ifunc("resolve")));
