// tests/targets/cuda/cuda_calls.cc: makes every call that is counted, once by name and once as cuGetProcAddress gives
// it out, and checks that the driver gets what it was given. Then some in known numbers.
#include "../keep.h"
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

// Structures that calls of copies and launches point to.
CudaCopy2d flat{};
CudaCopy3d deep{};
CudaBatchCopy3d batch[16]{};
CudaLaunchConfiguration configuration{{1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, 0};
size_t sizes[16]{1, 20, 300};

// is_batch: numbers are small, as the wrapper reads as many elements as one of them says.
template <typename Argument, bool is_batch>
Argument argument(uint64_t number) {
  if constexpr (std::is_same_v<Argument, const CudaCopy2d*>) {
    return &flat;
  } else if constexpr (std::is_same_v<Argument, const CudaCopy3d*>) {
    return &deep;
  } else if constexpr (std::is_same_v<Argument, const CudaBatchCopy3d*>) {
    return batch;
  } else if constexpr (std::is_same_v<Argument, const CudaLaunchConfiguration*>) {
    return &configuration;
  } else if constexpr (std::is_same_v<Argument, const size_t*>) {
    return sizes;
  } else if constexpr (is_batch && std::is_same_v<Argument, size_t>) {
    return number;
  } else {
    return (Argument)(number * 0x0101010101010101u);  // no two are alike, and none is small
  }
}

template <size_t... numbers, typename... Arguments>
KEEP_FRAME void check(const char* symbol, std::index_sequence<numbers...>, int (*function)(Arguments...)) {
  [[maybe_unused]] constexpr bool is_batch =
      ((std::is_same_v<Arguments, const size_t*> || std::is_same_v<Arguments, const CudaBatchCopy3d*>) || ...);
  const long before = calls_of(symbol);
  const int result = function(argument<Arguments, is_batch>(numbers + 1)...);
  const uint64_t expected = hash_of(argument<Arguments, is_batch>(numbers + 1)...);
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

// 321 bytes, and 150: what goes to an array has elements of a size that is not said.
KEEP_FRAME void copy_in_batches(decltype(&cuMemcpyBatchAsync_v2) flat_copies,
                                decltype(&cuMemcpy3DBatchAsync_v2) deep_copies) {
  batch[0] = {{1, {}}, {1, {}}, 10, 3, 5, 0, 0};
  batch[1] = {{1, {}}, {2, {}}, 10, 3, 5, 0, 0};
  for (int i = 0; i < 10; ++i) {
    flat_copies(nullptr, nullptr, sizes, 3, nullptr, nullptr, 0, nullptr);
    deep_copies(2, batch, 0, nullptr);
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
  copy_in_batches(FIND(cuMemcpyBatchAsync_v2), FIND(cuMemcpy3DBatchAsync_v2));
  churn(FIND(cuMemAlloc_v2), FIND(cuMemFree_v2));
  auto* copy = FIND(cuMemcpyHtoD_v2);
  for (int i = 0; i < 1000; ++i) copy(0x1000, &found, 4096);
  auto* launch = FIND(cuLaunchKernel);
  for (int i = 0; i < 100'000; ++i) launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  return failures == 0 ? 0 : 1;
}
