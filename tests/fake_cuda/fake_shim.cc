// tests/fake_cuda/fake_shim.cc: a libcuda.so.1 that has the driver in another library, as that of WSL 2: each of its
// functions jumps there, and its cuGetProcAddress gives out what is there.
//
// FAKE_CUDA_DRIVER: the other library.
#include "tests/fake_cuda/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define X(name, params)                                                    \
  extern "C" __attribute__((visibility("hidden"))) void* fake_shim_##name; \
  void* fake_shim_##name = nullptr;                                        \
  asm(".globl " #name "\n.type " #name ", @function\n" #name ":\n  jmp *fake_shim_" #name "(%rip)\n");
FAKE_CUDA_FUNCTIONS(X)
#undef X

__attribute__((constructor)) static void load_driver() {
  const char* path = getenv("FAKE_CUDA_DRIVER");
  void* driver = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    fprintf(stderr, "fake shim: no driver: %s\n", path == nullptr ? "FAKE_CUDA_DRIVER is not set" : dlerror());
    abort();
  }
#define X(name, params) fake_shim_##name = dlsym(driver, #name);
  FAKE_CUDA_FUNCTIONS(X)
#undef X
}
