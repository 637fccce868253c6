// agent/cuda/hooks_calls.cc: the wrappers of calls that take the host's time, and of launches of kernels and graphs.
#include "agent/cuda/gpu_time.h"
#include "agent/cuda/holdings.h"
#include "agent/cuda/kernels.h"
#include "agent/cuda/wrapper.h"
#include "agent/process/arena.h"
#include "agent/record/record_fast.h"

namespace heapprof::agent {

namespace {

uint64_t bytes_of(const CudaCopy2d* copy) { return copy == nullptr ? 0 : copy->width_bytes * copy->height; }
uint64_t bytes_of(const CudaCopy3d* copy) {
  return copy == nullptr ? 0 : copy->width_bytes * copy->height * copy->depth;
}

uint64_t bytes_of(const size_t* sizes, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; sizes != nullptr && i < count; ++i) sum += sizes[i];
  return sum;
}
// Extents are bytes if no array is involved; with an array they are elements, whose size the call does not say.
uint64_t bytes_of(const CudaBatchCopy3d* copies, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; copies != nullptr && i < count; ++i) {
    const CudaBatchCopy3d& copy = copies[i];
    if (copy.from.type == kCudaPointer && copy.to.type == kCudaPointer) sum += copy.width * copy.height * copy.depth;
  }
  return sum;
}

using wire::DeviceCall;

// Queries the driver after a call in which it may have given memory back, or taken some for a graph.
INLINE const void* first(const void* executable, const void*) { return executable; }
template <DeviceCall kind, typename... Arguments>
INLINE void look_again(int result, HookFrame hook_frame, const Arguments&... arguments) {
  if (result != kCudaSuccess) return;
  if constexpr (kind == DeviceCall::kSynchronizeContext || kind == DeviceCall::kSynchronizeStream ||
                kind == DeviceCall::kSynchronizeEvent) {
    note_wait(hook_frame);
    read_gpu_times(hook_frame);
  } else if constexpr (kind == DeviceCall::kLaunchGraph) {
    note_graph_launch(first(arguments...), hook_frame);
    if (g_fork_page.state == AgentState::kOn)
      record_launch(wire::pack_graph_launch(kernel_nodes_plus_one_of(first(arguments...))), hook_frame);
  }
}

// What a call launches. The arguments are read once the driver has accepted them.
struct Launch {
  const void* kernel;
  wire::LaunchShape shape;
};
template <typename... Rest>
INLINE Launch launch_of(void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, Rest...) {
  return {kernel, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}};
}
INLINE Launch launch_of(const CudaLaunchConfiguration* as, void* kernel, void**, void**) {
  return {kernel,
          {{as->grid[0], as->grid[1], as->grid[2]}, {as->block[0], as->block[1], as->block[2]}, as->shared_bytes}};
}
INLINE void note_launch(const Launch& launch, HookFrame hook_frame) {
  if (g_fork_page.state != AgentState::kOn) return;
  const wire::Record record = wire::pack_launch(number_of_kernel(launch.kernel), launch.shape);
  if (HEAPPROF_UNLIKELY(!record_launch_fast(record, hook_frame))) record_launch(record, hook_frame);
}

// The stream of a launch whose arguments the driver has not seen yet.
template <typename... Rest>
INLINE void* stream_of(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                       Rest...) {
  return stream;
}
INLINE void* stream_of(const CudaLaunchConfiguration* as, void*, void**, void**) {
  return as == nullptr ? nullptr : as->stream;
}
template <typename Call>
INLINE int time_launch(void* stream, bool per_thread, HookFrame hook_frame, Call&& call) {
  if (!measures_gpu_time()) return call();
  const uint32_t interval = begin_timed_launch(stream, per_thread, hook_frame);
  const int result = call();
  end_timed_launch(interval, result == kCudaSuccess, hook_frame);
  return result;
}

// Counts a launch, by one store into the ring's header; a thread without a ring adds to the process's number.
INLINE void count_launch() {
  const Context* context = t_context;
  if (g_fork_page.state != AgentState::kOn) return;
  if (context == nullptr || context->is_shared || context->session != g_session) {
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

#define HEAPPROF_MORE(...) __VA_OPT__(, ) __VA_ARGS__
#define X(symbol, base, version, per_thread, kind, bytes, params, args)                                           \
  CUDA_HOOK(symbol) params {                                                                                      \
    auto* real = REAL(symbol);                                                                                    \
    if (real == nullptr) return kCudaNotInitialized;                                                              \
    const int result = time_call(                                                                                 \
        DeviceCall::kind, [&]() -> uint64_t { return bytes; }, HEAPPROF_HOOK_FRAME(), [&] { return real args; }); \
    look_again<DeviceCall::kind>(result, HEAPPROF_HOOK_FRAME() HEAPPROF_MORE args);                               \
    return result;                                                                                                \
  }
HEAPPROF_CUDA_CALLS(X)
#undef X
#undef HEAPPROF_MORE

#define X(symbol, base, version, per_thread, params, args)                                               \
  CUDA_HOOK(symbol) params {                                                                             \
    auto* real = REAL(symbol);                                                                           \
    if (real == nullptr) return kCudaNotInitialized;                                                     \
    const HookFrame frame = HEAPPROF_HOOK_FRAME();                                                       \
    const int result = time_launch(stream_of args, (per_thread) != 0, frame, [&] { return real args; }); \
    if (result == kCudaSuccess) {                                                                        \
      count_launch();                                                                                    \
      note_launch(launch_of args, frame);                                                                \
    }                                                                                                    \
    return result;                                                                                       \
  }
HEAPPROF_CUDA_LAUNCHES(X)
#undef X
