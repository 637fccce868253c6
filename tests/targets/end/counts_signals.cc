// tests/targets/end/counts_signals.cc: says "ready" and then each signal that it gets, "10 0", with the value of a
// sigqueue; ends when its input does. Names of signals that it does not handle are left to their defaults.
#include "../keep.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

KEEP_FRAME void allocate() { keep(malloc(1235)); }

void say(int number, siginfo_t* info, void*) {
  char line[64];
  const int value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
  const int length = snprintf(line, sizeof line, "%d %d\n", number, value);
  (void)!write(1, line, static_cast<size_t>(length));
}

int main(int argc, char** argv) {
  struct sigaction action {};
  action.sa_sigaction = say;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    if (argc > 1 && number == atoi(argv[1])) continue;  // this one is not handled
    sigaction(number, &action, nullptr);
  }
  signal(SIGCHLD, SIG_DFL);
  for (int i = 0; i < 3; ++i) allocate();
  (void)!write(1, "ready\n", 6);
  char byte;
  while (read(0, &byte, 1) > 0) continue;
  return 6;
}
