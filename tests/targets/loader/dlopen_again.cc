// tests/targets/loader/dlopen_again.cc: loads and unloads two libraries in turn, so that the second comes to lie where
// the first was.
//
// usage: dlopen_again ALPHA BETA ROUNDS      prints "same" if both were ever at one address
#include "../keep.h"

#include <dlfcn.h>
#include <stdio.h>

using Allocate = void* (*)(size_t);

KEEP_FRAME uintptr_t use_library(const char* path, const char* function, size_t size_bytes) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) exit(97);
  auto allocate = reinterpret_cast<Allocate>(dlsym(library, function));
  if (allocate == nullptr) exit(96);
  keep(allocate(size_bytes));
  dlclose(library);
  return reinterpret_cast<uintptr_t>(allocate);
}

int main(int argc, char** argv) {
  if (argc != 4) return 98;
  bool same = false;
  for (int i = 0; i < atoi(argv[3]); ++i) {
    uintptr_t alpha = use_library(argv[1], "alpha_allocate", 1235);
    uintptr_t beta = use_library(argv[2], "beta_allocate", 1237);
    same |= alpha == beta;
  }
  puts(same ? "same" : "different");
  return 0;
}
