// tests/unit/symbolize/programs/record.c: prints where it was called from: the return address as in the ELF file, and a
// marker.
#include <link.h>
#include <stdint.h>
#include <stdio.h>

__attribute__((noinline)) void record(const char* marker) {
  uintptr_t bias = _r_debug.r_map->l_addr;
  printf("%lx %s\n", (unsigned long)((uintptr_t)__builtin_return_address(0) - bias), marker);
  fflush(stdout);
}
