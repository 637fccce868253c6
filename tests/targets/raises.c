/* tests/targets/raises.c: ends by the signal of its argument. usage: raises SIGNAL */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int argc, char** argv) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (argc == 2) raise(atoi(argv[1]));
  return 98;
}
