// tests/targets/loader/own_names.cc: a program that exports names of libc's and the loader's, with other contents.
#include "../keep.h"

#include <dlfcn.h>

#include <cstdio>

extern "C" {
unsigned long getauxval(unsigned long) { return 4096; }
long _r_debug[8];
KEEP_FRAME void allocate() {
  for (int i = 0; i < 10; ++i) keep(malloc(1235));
}
}

int main() {
  allocate();
  std::printf("%s\n", dlopen("libBrokenLocale.so.1", RTLD_NOW) != nullptr ? "loaded" : "not loaded");
  return static_cast<int>(getauxval(6) >> 10) + static_cast<int>(_r_debug[1]);
}
