// tests/targets/start/early/handles.c: allocates in a handler, while its own first allocation is on its way.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void await_look(void);
int was_looked_up(void);

static volatile int g_handled;
static void handle(int number) {
  (void)number;
  free(malloc(1237));
  g_handled = 1;
}

static void begin(int count, char** arguments, char** variables) {
  (void)count, (void)arguments, (void)variables;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, NULL);
  await_look();
  free(malloc(1236));
}
__attribute__((section(".preinit_array"), used)) static void (*const g_begin)(int, char**, char**) = begin;

int main(void) { return g_handled && was_looked_up() ? 42 : 41; }
