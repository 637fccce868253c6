// agent/cuda/estimate.cc: queries free memory when that disturbs no capture.
//
// cuMemGetInfo in a capturing thread invalidates the capture, so nothing is queried while any capture runs. Captures
// are counted as they begin and end; one that began unseen is found by querying the default stream.
#include "agent/cuda/estimate.h"

#include "agent/process/arena.h"

namespace heapprof::agent {

namespace {

std::atomic<int> g_captures{0};  // captures in progress, of all threads

constexpr size_t kMostLookups = 4096;           // a power of two
std::atomic<uint64_t> g_lookups[kMostLookups];  // hashes; 0: free

}  // namespace

bool estimates_gpu() { return g_control != nullptr && g_control->estimates_gpu != 0; }

void note_capture(int change) {
  int captures = g_captures.load(std::memory_order_relaxed);
  while (captures + change >= 0 &&
         !g_captures.compare_exchange_weak(captures, captures + change, std::memory_order_relaxed)) {
  }
}

// If a capture began unseen in a stream that waits for the default stream, querying the default stream returns an
// error.
bool ask_free_memory(FreeMemory* memory) {
  if (g_captures.load(std::memory_order_relaxed) != 0) return false;
  memory->device = device_of_context();
  if (memory->device < wire::kFirstCudaDevice || !is_surely_not_capturing()) return false;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (!ask_function(real_cuda(CudaFunction::cuMemGetInfo_v2), &free_bytes, &total_bytes) || free_bytes > total_bytes)
    return false;
  memory->free_bytes = free_bytes;
  memory->total_bytes = total_bytes;
  return true;
}

bool ask_free_memory_in(void* context, FreeMemory* memory) {
  if (current_context() == context) return ask_free_memory(memory);
  if (!push_context(context)) return false;
  const bool is_known = ask_free_memory(memory);
  pop_context();
  return is_known;
}

bool is_first_lookup(const void* owner, const char* name) {
  uint64_t hash = number(owner) * 0x9E3779B97F4A7C15ull ^ 1469598103934665603ull;
  for (; name != nullptr && *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 1099511628211ull;
  hash = hash == 0 ? 1 : hash;
  for (size_t i = 0; i < kMostLookups; ++i) {
    std::atomic<uint64_t>& slot = g_lookups[(hash + i) & (kMostLookups - 1)];
    uint64_t known = slot.load(std::memory_order_relaxed);
    if (known == 0 && slot.compare_exchange_strong(known, hash, std::memory_order_relaxed)) return true;
    if (known == hash) return false;
  }
  return false;
}

}  // namespace heapprof::agent
