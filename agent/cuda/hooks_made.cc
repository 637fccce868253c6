// agent/cuda/hooks_made.cc: calls that take device memory without a requested size: those that make contexts and
// modules, or set limits of a context; and captures, during which the driver is not queried about that memory.
#include "agent/cuda/estimate.h"
#include "agent/cuda/kernels.h"

using namespace heapprof::agent;

CUDA_HOOK(cuCtxCreate)(void** context, unsigned flags, int device) {
  return estimate_context(context, device, HEAPPROF_HOOK_FRAME(),
                          [&] { return call(REAL(cuCtxCreate), context, flags, device); });
}
CUDA_HOOK(cuCtxCreate_v2)(void** context, unsigned flags, int device) {
  return estimate_context(context, device, HEAPPROF_HOOK_FRAME(),
                          [&] { return call(REAL(cuCtxCreate_v2), context, flags, device); });
}
CUDA_HOOK(cuCtxCreate_v3)(void** context, void* affinities, int count, unsigned flags, int device) {
  return estimate_context(context, device, HEAPPROF_HOOK_FRAME(),
                          [&] { return call(REAL(cuCtxCreate_v3), context, affinities, count, flags, device); });
}
CUDA_HOOK(cuCtxCreate_v4)(void** context, void* parameters, unsigned flags, int device) {
  return estimate_context(context, device, HEAPPROF_HOOK_FRAME(),
                          [&] { return call(REAL(cuCtxCreate_v4), context, parameters, flags, device); });
}
// A larger stack, heap or FIFO belongs to the context.
CUDA_HOOK(cuCtxSetLimit)(int limit, size_t value) {
  return estimate_change(heapprof::wire::EstimateKind::kContext, HEAPPROF_HOOK_FRAME(),
                         [&] { return call(REAL(cuCtxSetLimit), limit, value); });
}

namespace {
template <typename Call>
INLINE int estimate_modules(HookFrame hook_frame, Call&& load) {
  return estimate_change(heapprof::wire::EstimateKind::kModules, hook_frame, load);
}
}  // namespace

CUDA_HOOK(cuModuleLoad)(void** module, const char* file) {
  return estimate_modules(HEAPPROF_HOOK_FRAME(), [&] { return call(REAL(cuModuleLoad), module, file); });
}
CUDA_HOOK(cuModuleLoadData)(void** module, const void* image) {
  return estimate_modules(HEAPPROF_HOOK_FRAME(), [&] { return call(REAL(cuModuleLoadData), module, image); });
}
CUDA_HOOK(cuModuleLoadDataEx)(void** module, const void* image, unsigned count, void* options, void** values) {
  return estimate_modules(HEAPPROF_HOOK_FRAME(),
                          [&] { return call(REAL(cuModuleLoadDataEx), module, image, count, options, values); });
}
CUDA_HOOK(cuModuleLoadFatBinary)(void** module, const void* image) {
  return estimate_modules(HEAPPROF_HOOK_FRAME(), [&] { return call(REAL(cuModuleLoadFatBinary), module, image); });
}
CUDA_HOOK(cuLibraryLoadData)
(void** library, const void* code, void* jit_options, void** jit_values, unsigned jit_count, void* options,
 void** values, unsigned count) {
  return estimate_modules(HEAPPROF_HOOK_FRAME(), [&] {
    return call(REAL(cuLibraryLoadData), library, code, jit_options, jit_values, jit_count, options, values, count);
  });
}
CUDA_HOOK(cuLibraryLoadFromFile)
(void** library, const char* file, void* jit_options, void** jit_values, unsigned jit_count, void* options,
 void** values, unsigned count) {
  return estimate_modules(HEAPPROF_HOOK_FRAME(), [&] {
    return call(REAL(cuLibraryLoadFromFile), library, file, jit_options, jit_values, jit_count, options, values, count);
  });
}

namespace {
// Notes the handle of a kernel that was looked up by name.
INLINE int noted(int result, KernelHandle kind, void** handle, const char* name) {
  if (result == kCudaSuccess && handle != nullptr && g_fork_page.state == AgentState::kOn)
    note_kernel_handle(kind, *handle, name);
  return result;
}
// Notes the handles from a list of all kernels of a library or a module.
INLINE int listed(int result, KernelHandle kind, void** handles, unsigned most, void* owner) {
  unsigned count = 0;
  if (result != kCudaSuccess || handles == nullptr || g_fork_page.state != AgentState::kOn ||
      !ask_kernel_count(kind, owner, &count))
    return result;
  for (unsigned i = 0; i < count && i < most; ++i) note_listed_kernel(kind, handles[i]);
  return result;
}
INLINE int instantiated(int result, void** executable, void* graph) {
  if (result != kCudaSuccess || executable == nullptr || g_fork_page.state != AgentState::kOn) return result;
  uint64_t kernels = 0;
  note_graph(*executable, ask_kernel_nodes(graph, &kernels) ? kernels + 1 : 0);
  return result;
}
}  // namespace

// With lazy loading, the default, a kernel is loaded when it is first looked up.
CUDA_HOOK(cuModuleGetFunction)(void** function, void* module, const char* name) {
  const auto look_up = [&] {
    return noted(call(REAL(cuModuleGetFunction), function, module, name), KernelHandle::kFunction, function, name);
  };
  if (!estimates_gpu() || !is_first_lookup(module, name)) return look_up();
  return estimate_modules(HEAPPROF_HOOK_FRAME(), look_up);
}
CUDA_HOOK(cuLibraryGetKernel)(void** kernel, void* library, const char* name) {
  return noted(call(REAL(cuLibraryGetKernel), kernel, library, name), KernelHandle::kKernel, kernel, name);
}
// A program may take kernels from the list of a library or a module, and look up none by name.
CUDA_HOOK(cuLibraryEnumerateKernels)(void** kernels, unsigned most, void* library) {
  return listed(call(REAL(cuLibraryEnumerateKernels), kernels, most, library), KernelHandle::kKernel, kernels, most,
                library);
}
CUDA_HOOK(cuModuleEnumerateFunctions)(void** functions, unsigned most, void* module) {
  return listed(call(REAL(cuModuleEnumerateFunctions), functions, most, module), KernelHandle::kFunction, functions,
                most, module);
}
CUDA_HOOK(cuGraphInstantiateWithFlags)(void** executable, void* graph, unsigned long long flags) {
  return instantiated(call(REAL(cuGraphInstantiateWithFlags), executable, graph, flags), executable, graph);
}
CUDA_HOOK(cuGraphInstantiateWithParams)(void** executable, void* graph, void* parameters) {
  return instantiated(call(REAL(cuGraphInstantiateWithParams), executable, graph, parameters), executable, graph);
}
CUDA_HOOK(cuGraphInstantiateWithParams_ptsz)(void** executable, void* graph, void* parameters) {
  return instantiated(call(REAL(cuGraphInstantiateWithParams_ptsz), executable, graph, parameters), executable, graph);
}
CUDA_HOOK(cuKernelGetFunction)(void** function, void* kernel) {
  const auto look_up = [&] {
    const int result = call(REAL(cuKernelGetFunction), function, kernel);
    if (result == kCudaSuccess && function != nullptr && g_fork_page.state == AgentState::kOn)
      note_function_of_kernel(*function, kernel);
    return result;
  };
  if (!estimates_gpu() || !is_first_lookup(kernel, nullptr)) return look_up();
  return estimate_modules(HEAPPROF_HOOK_FRAME(), look_up);
}
CUDA_HOOK(cuLibraryGetModule)(void** module, void* library) {
  const auto look_up = [&] { return call(REAL(cuLibraryGetModule), module, library); };
  if (!estimates_gpu() || !is_first_lookup(library, nullptr)) return look_up();
  return estimate_modules(HEAPPROF_HOOK_FRAME(), look_up);
}

namespace {

INLINE int begun(int result) {
  if (result == kCudaSuccess) note_capture(1);
  return result;
}
// An invalidated capture has ended, too: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED … _UNJOINED.
INLINE int ended(int result) {
  if (result == kCudaSuccess || (result >= 901 && result <= 904)) note_capture(-1);
  return result;
}

}  // namespace

CUDA_HOOK(cuStreamBeginCapture_v2)(void* stream, int mode) {
  return begun(call(REAL(cuStreamBeginCapture_v2), stream, mode));
}
CUDA_HOOK(cuStreamBeginCapture_v2_ptsz)(void* stream, int mode) {
  return begun(call(REAL(cuStreamBeginCapture_v2_ptsz), stream, mode));
}
CUDA_HOOK(cuStreamBeginCaptureToGraph)
(void* stream, void* graph, const void* nodes, const void* edges, size_t count, int mode) {
  return begun(call(REAL(cuStreamBeginCaptureToGraph), stream, graph, nodes, edges, count, mode));
}
CUDA_HOOK(cuStreamBeginCaptureToGraph_ptsz)
(void* stream, void* graph, const void* nodes, const void* edges, size_t count, int mode) {
  return begun(call(REAL(cuStreamBeginCaptureToGraph_ptsz), stream, graph, nodes, edges, count, mode));
}
CUDA_HOOK(cuStreamEndCapture)(void* stream, void** graph) {
  return ended(call(REAL(cuStreamEndCapture), stream, graph));
}
CUDA_HOOK(cuStreamEndCapture_ptsz)(void* stream, void** graph) {
  return ended(call(REAL(cuStreamEndCapture_ptsz), stream, graph));
}
