// tests/gpu/find_driver.h: the driver as programs on a machine with a GPU find it, without its headers; what fails ends
// them with 3.
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

template <typename Function>
Function* find(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) {
    printf("# no %s\n", name);
    exit(3);
  }
  return reinterpret_cast<Function*>(found);
}

inline void check(int result, int line) {
  if (result == 0) return;
  printf("# line %d: CUDA error %d\n", line, result);
  exit(3);
}
#define CHECK(call) check(call, __LINE__)

// The first device's primary context is the calling thread's from then on.
inline void use_first_device() {
  void* context = nullptr;
  CHECK(find<int(unsigned)>("cuInit")(0));
  CHECK(find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0));
  CHECK(find<int(void*)>("cuCtxSetCurrent")(context));
}
