// tests/targets/cuda/cuda_client.h: the fake driver as a program loads it, function by function, and what it expects of
// it.
#pragma once

#include "tests/fake_cuda/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>

struct CudaClient {
#define X(name, params) decltype(&::name) name;
  FAKE_CUDA_FUNCTIONS(X)
#undef X
  decltype(&::fake_cuda_fail_next) fail_next;
  decltype(&::fake_cuda_calls) calls;
  CUstream* capturing;
  decltype(&::cuGraphLaunch) cuGraphLaunch;
  decltype(&::cuStreamSynchronize) cuStreamSynchronize;
  decltype(&::cuCtxSynchronize) cuCtxSynchronize;
};
inline CudaClient cuda;

// False: there is no such driver, or it lacks a function.
inline bool load_cuda() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
#define FIND(member, symbol)                                                     \
  cuda.member = reinterpret_cast<decltype(cuda.member)>(dlsym(library, symbol)); \
  if (cuda.member == nullptr) return false;
#define X(name, params) FIND(name, #name)
  FAKE_CUDA_FUNCTIONS(X)
#undef X
  FIND(fail_next, "fake_cuda_fail_next")
  FIND(calls, "fake_cuda_calls")
  FIND(capturing, "fake_cuda_capturing")
  FIND(cuGraphLaunch, "cuGraphLaunch")
  FIND(cuStreamSynchronize, "cuStreamSynchronize")
  FIND(cuCtxSynchronize, "cuCtxSynchronize")
#undef FIND
  return true;
}

inline int failures = 0;
inline void expect(bool holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

inline constexpr int kOwnErrno = 4242;  // which no question of the agent's may change
