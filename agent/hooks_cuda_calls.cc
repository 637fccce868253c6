// agent/hooks_cuda_calls.cc: calls that take the host's time, and kernels: counted, and nothing else.
#include "agent/arena.h"
#include "agent/context.h"
#include "agent/cuda_hook.h"

namespace heapprof::agent {

namespace {

uint64_t bytes_of(const CudaCopy2d* copy) { return copy == nullptr ? 0 : copy->width_bytes * copy->height; }
uint64_t bytes_of(const CudaCopy3d* copy) {
  return copy == nullptr ? 0 : copy->width_bytes * copy->height * copy->depth;
}

// One store; a thread without a ring adds to the process's own number.
INLINE void count_launch() {
  const Context* context = t_context;
  if (g_fork_page.state != AgentState::kOn) return;
  if (context == nullptr || context->is_shared || context->life != g_life) {
    g_control->kernel_launches.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::atomic<uint64_t>& launches = context->header->kernel_launches;
  launches.store(launches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

}  // namespace heapprof::agent

using namespace heapprof::agent;
using heapprof::wire::DeviceCall;

#define X(symbol, base, version, per_thread, kind, bytes, params, args)                          \
  HOOK(symbol) params {                                                                          \
    auto* real = REAL(symbol);                                                                   \
    if (real == nullptr) return kCudaNotInitialized;                                             \
    return time_call(DeviceCall::kind, bytes, HEAPPROF_HOOK_FRAME(), [&] { return real args; }); \
  }
HEAPPROF_CUDA_CALLS(X)
#undef X

#define X(symbol, base, version, per_thread, params, args) \
  HOOK(symbol) params {                                    \
    auto* real = REAL(symbol);                             \
    if (real == nullptr) return kCudaNotInitialized;       \
    const int result = real args;                          \
    if (result == kCudaSuccess) count_launch();            \
    return result;                                         \
  }
HEAPPROF_CUDA_LAUNCHES(X)
#undef X
