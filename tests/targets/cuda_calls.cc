// tests/targets/cuda_calls.cc: makes every call that is counted, once by name and once as cuGetProcAddress gives it out, and checks
// that the driver gets what it was given. Then some in known numbers.
#include "keep.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <type_traits>
#include <utility>

namespace {

int failures = 0;
uint64_t (*arguments_of)(const char*);
long (*calls_of)(const char*);

// Structures that calls of copies point to.
CudaCopy2d flat{};
CudaCopy3d deep{};

template <typename Argument>
Argument argument(uint64_t number) {
  if constexpr (std::is_same_v<Argument, const CudaCopy2d*>) {
    return &flat;
  } else if constexpr (std::is_same_v<Argument, const CudaCopy3d*>) {
    return &deep;
  } else {
    return (Argument)(number * 0x0101010101010101u);  // no two are alike, and none is small
  }
}

template <size_t... numbers, typename... Arguments>
KEEP_FRAME void check(const char* symbol, std::index_sequence<numbers...>, int (*function)(Arguments...)) {
  const long before = calls_of(symbol);
  const int result = function(argument<Arguments>(numbers + 1)...);
  const uint64_t expected = hash_of(argument<Arguments>(numbers + 1)...);
  if (result == kSuccess && calls_of(symbol) == before + 1 && arguments_of(symbol) == expected) return;
  fprintf(stderr, "%s: result %d, %ld calls\n", symbol, result, calls_of(symbol) - before);
  ++failures;
}
template <typename... Arguments>
void check(const char* symbol, int (*function)(Arguments...)) {
  check(symbol, std::index_sequence_for<Arguments...>(), function);
}

KEEP_FRAME void churn(int (*allocate)(CUdeviceptr*, size_t), int (*release)(CUdeviceptr)) {
  for (int i = 0; i < 500; ++i) {
    CUdeviceptr address = 0;
    allocate(&address, 1 << 20);
    release(address);
  }
}

template <typename Function>
Function find(void* library, const char* name, Function) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

int main() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 90;
#define FIND(symbol) find(library, #symbol, &::symbol)
  arguments_of = FIND(fake_cuda_arguments);
  calls_of = FIND(fake_cuda_calls);
  auto* get = FIND(cuGetProcAddress_v2);
  CUcontext context = nullptr;
  FIND(cuCtxCreate_v2)(&context, 0, 0);
  flat.width_bytes = 100;
  flat.height = 7;
  deep.width_bytes = 10;
  deep.height = 3;
  deep.depth = 5;
  void* found = nullptr;
#define X(symbol, base, version, per_thread, params, args)                                       \
  check(#symbol, FIND(symbol));                                                                  \
  if (get(#base, &found, (version), (per_thread) != 0 ? 2 : 0, nullptr) != kSuccess) ++failures; \
  check(#symbol, reinterpret_cast<decltype(&::symbol)>(found));
#define AS_CALL(symbol, base, version, per_thread, kind, bytes, params, args) \
  X(symbol, base, version, per_thread, params, args)
  HEAPPROF_CUDA_CALLS(AS_CALL)
  HEAPPROF_CUDA_LAUNCHES(X)
#undef X
  churn(FIND(cuMemAlloc_v2), FIND(cuMemFree_v2));
  auto* copy = FIND(cuMemcpyHtoD_v2);
  for (int i = 0; i < 1000; ++i) copy(0x1000, &found, 4096);
  auto* launch = FIND(cuLaunchKernel);
  for (int i = 0; i < 100'000; ++i) launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  return failures == 0 ? 0 : 1;
}
