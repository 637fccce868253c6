// tests/targets/cuda/estimate_oracle.cc: allocates tensors, attention, caches and weights as a program does: element by
// element of C++ types, block by block, on the heap and on the fake driver's first device. heapprof/estimate.hpp is not
// asked how large they are: it says beside what was counted what it had expected.
//
// usage: estimate_oracle            prints a line for each: function, expected bytes, and the words for heapprof
//                                   estimate
//        estimate_oracle weights N  bytes, on cuda:0: exit status 0 if there is room for them, 7 if not
#include "../keep.h"
#include "cuda_client.h"

#include <heapprof/estimate.hpp>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

namespace {

struct Pair {  // of packed elements
  uint8_t low : 4, high : 4;
};
static_assert(sizeof(Pair) == 1);

KEEP_FRAME void* take(size_t bytes, bool on_device) {
  if (!on_device) return keep(malloc(bytes));
  CUdeviceptr address = 0;
  EXPECT(cuda.cuMemAlloc_v2(&address, bytes) == kSuccess);
  return reinterpret_cast<void*>(address);
}

void say(const char* function, uint64_t expected, const char* words) {
  printf("%s %llu %s\n", function, static_cast<unsigned long long>(expected), words);
}

// A tensor of Element, row by row as std::vector would hold it.
template <typename Element>
void take_tensor(std::initializer_list<size_t> shape, bool on_device) {
  size_t count = 1;
  for (const size_t dimension : shape) count *= dimension;
  if (count != 0) take(count * sizeof(Element), on_device);
}
template <typename Element>
void take_attention(size_t b, size_t h, size_t s, size_t d, bool on_device) {
  for (int i = 0; i < 3; ++i) take_tensor<Element>({b, h, s, d}, on_device);  // query, key, value
  take_tensor<Element>({b, h, s, s}, on_device);                              // scores
  take_tensor<Element>({b, h, s, d}, on_device);                              // output
}
// Page by page, each with the keys or the values of one layer.
template <typename Element>
void take_cache(size_t layers, size_t heads, size_t dim, size_t tokens, size_t batch, size_t page, bool on_device) {
  for (size_t sequence = 0; sequence < batch; ++sequence) {
    for (size_t first = 0; first < tokens; first += page) {
      for (size_t layer = 0; layer < 2 * layers; ++layer) take_tensor<Element>({heads, page, dim}, on_device);
    }
  }
}

using heapprof::Dtype;
using heapprof::estimate_attention_memory;
using heapprof::estimate_kv_cache_memory;
using heapprof::estimate_tensor_bytes;
using heapprof::estimate_weight_memory;

// X(function, what it allocates, the estimate, words for heapprof estimate)
#define CASES(X)                                                                                                       \
  X(tensor_f32, take_tensor<float>({10, 100}, on_device), estimate_tensor_bytes({10, 100}, Dtype::kF32),               \
    "tensor 10x100 --dtype f32")                                                                                       \
  X(tensor_f64, take_tensor<double>({3, 5, 7}, on_device), estimate_tensor_bytes({3, 5, 7}, Dtype::kF64),              \
    "tensor 3x5x7 --dtype f64")                                                                                        \
  X(tensor_tf32, take_tensor<float>({11, 13}, on_device), estimate_tensor_bytes({11, 13}, Dtype::kTf32),               \
    "tensor 11x13 --dtype tf32")                                                                                       \
  X(tensor_f16, take_tensor<uint16_t>({10, 100}, on_device), estimate_tensor_bytes({10, 100}, Dtype::kF16),            \
    "tensor 10x100 --dtype f16")                                                                                       \
  X(tensor_bf16, take_tensor<uint16_t>({17, 19}, on_device), estimate_tensor_bytes({17, 19}, Dtype::kBf16),            \
    "tensor 17x19 --dtype bf16")                                                                                       \
  X(tensor_fp8, take_tensor<uint8_t>({23, 29}, on_device), estimate_tensor_bytes({23, 29}, Dtype::kFp8),               \
    "tensor 23x29 --dtype e4m3")                                                                                       \
  X(tensor_i64, take_tensor<int64_t>({31}, on_device), estimate_tensor_bytes({31}, Dtype::kI64),                       \
    "tensor 31 --dtype i64")                                                                                           \
  X(tensor_i32, take_tensor<int32_t>({37}, on_device), estimate_tensor_bytes({37}, Dtype::kI32),                       \
    "tensor 37 --dtype i32")                                                                                           \
  X(tensor_i16, take_tensor<int16_t>({41}, on_device), estimate_tensor_bytes({41}, Dtype::kI16),                       \
    "tensor 41 --dtype i16")                                                                                           \
  X(tensor_i8, take_tensor<int8_t>({43}, on_device), estimate_tensor_bytes({43}, Dtype::kI8), "tensor 43 --dtype i8")  \
  X(tensor_u8, take_tensor<uint8_t>({47}, on_device), estimate_tensor_bytes({47}, Dtype::kU8), "tensor 47 --dtype u8") \
  X(tensor_bool, take_tensor<bool>({53}, on_device), estimate_tensor_bytes({53}, Dtype::kBool),                        \
    "tensor 53 --dtype bool")                                                                                          \
  X(tensor_i4, take_tensor<Pair>({(5 * 5 + 1) / 2}, on_device), estimate_tensor_bytes({5, 5}, Dtype::kI4),             \
    "tensor 5x5 --dtype i4")                                                                                           \
  X(tensor_fp4, take_tensor<Pair>({6 * 7 / 2}, on_device), estimate_tensor_bytes({6, 7}, Dtype::kFp4),                 \
    "tensor 6x7 --dtype fp4")                                                                                          \
  X(tensor_scalar, take_tensor<double>({}, on_device), estimate_tensor_bytes({}, Dtype::kF64),                         \
    "tensor [] --dtype f64")                                                                                           \
  X(tensor_empty, take_tensor<float>({7, 0}, on_device), estimate_tensor_bytes({7, 0}, Dtype::kF32),                   \
    "tensor 7x0 --dtype f32")                                                                                          \
  X(attention_small, take_attention<float>(1, 1, 4, 2, on_device), estimate_attention_memory(1, 1, 4, 2, Dtype::kF32), \
    "attention --batch 1 --heads 1 --seq 4 --head-dim 2 --dtype f32")                                                  \
  X(attention_f16, take_attention<uint16_t>(2, 3, 65, 16, on_device),                                                  \
    estimate_attention_memory(2, 3, 65, 16, Dtype::kF16),                                                              \
    "attention --batch 2 --heads 3 --seq 65 --head-dim 16 --dtype f16")                                                \
  X(attention_fp8, take_attention<uint8_t>(3, 2, 33, 5, on_device),                                                    \
    estimate_attention_memory(3, 2, 33, 5, Dtype::kFp8),                                                               \
    "attention --batch 3 --heads 2 --seq 33 --head-dim 5 --dtype e5m2")                                                \
  X(cache_pages, take_cache<uint16_t>(3, 2, 8, 37, 5, 16, on_device),                                                  \
    estimate_kv_cache_memory({3, 2, 8, 37, 5, 16}, Dtype::kF16),                                                       \
    "kv-cache --layers 3 --kv-heads 2 --head-dim 8 --tokens 37 --batch 5 --page-size 16 --dtype f16")                  \
  X(cache_tokens, take_cache<uint8_t>(2, 1, 7, 9, 2, 1, on_device),                                                    \
    estimate_kv_cache_memory({2, 1, 7, 9, 2}, Dtype::kFp8),                                                            \
    "kv-cache --layers 2 --kv-heads 1 --head-dim 7 --tokens 9 --batch 2 --dtype fp8")                                  \
  X(cache_pool, take_cache<uint16_t>(2, 3, 8, 11 * 16, 1, 16, on_device),                                              \
    estimate_kv_cache_memory({2, 3, 8, 16, 11, 16}, Dtype::kBf16),                                                     \
    "kv-cache --layers 2 --kv-heads 3 --head-dim 8 --pages 11 --page-size 16 --dtype bf16")                            \
  X(weights_bf16, take_tensor<uint16_t>({12500}, on_device), estimate_weight_memory(12500, Dtype::kBf16),              \
    "weights 12.5K --dtype bf16")                                                                                      \
  X(weights_u4, take_tensor<Pair>({6251}, on_device), estimate_weight_memory(12501, Dtype::kU4),                       \
    "weights 12501 --dtype u4")

#define X(function, allocate, estimate, words)                  \
  KEEP_FRAME void host_##function(bool on_device) { allocate; } \
  KEEP_FRAME void cuda_##function(bool on_device) { allocate; }
CASES(X)
#undef X

// One block of the device, in a process of its own.
int fill(const char* bytes) {
  CUdeviceptr address = 0;
  const int result = cuda.cuMemAlloc_v2(&address, strtoull(bytes, nullptr, 10));
  return result == kSuccess ? 0 : result == kOutOfMemory ? 7 : 8;
}

}  // namespace

int main(int argc, char** argv) {
  CUcontext context = nullptr;
  if (!load_cuda() || cuda.cuCtxCreate_v2(&context, 0, 0) != kSuccess) return 80;
  if (argc == 3 && strcmp(argv[1], "weights") == 0) return fill(argv[2]);
#define X(function, allocate, estimate, words) \
  host_##function(false);                      \
  cuda_##function(true);                       \
  say("host_" #function, estimate, words);     \
  say("cuda_" #function, estimate, words);
  CASES(X)
#undef X
  return failures == 0 ? 0 : 1;
}
