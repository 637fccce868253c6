// agent/cuda/hooks_holdings.cc: a program's operations on the driver's pools and on graphs with memory of their own.
#include "agent/cuda/holdings.h"
#include "agent/cuda/wrapper.h"

using namespace heapprof::agent;

CUDA_HOOK(cuMemPoolTrimTo)(void* pool, size_t least_bytes) {
  const int result = call(REAL(cuMemPoolTrimTo), pool, least_bytes);
  ask_pool(pool, HEAPPROF_HOOK_FRAME());
  return result;
}

// Queries the pool before the call, which may reset the high-water mark.
CUDA_HOOK(cuMemPoolSetAttribute)(void* pool, int attribute, void* value) {
  ask_pool(pool, HEAPPROF_HOOK_FRAME());
  return call(REAL(cuMemPoolSetAttribute), pool, attribute, value);
}

CUDA_HOOK(cuMemPoolDestroy)(void* pool) {
  uint32_t device = 0;
  const bool was_known = forget_pool(pool, &device, HEAPPROF_HOOK_FRAME());
  const int result = call(REAL(cuMemPoolDestroy), pool);
  if (result != kCudaSuccess && was_known) remember_pool(pool, device, HEAPPROF_HOOK_FRAME());
  return result;
}

namespace {

// Adds a node that allocates when its graph is launched. Its address is fixed now; freeing that address outside graphs
// ends no block of the books.
template <typename Call>
INLINE int add_node(const CudaAllocationNode* node, HookFrame hook_frame, Call&& add) {
  const uint64_t size_bytes = node == nullptr ? 0 : node->size_bytes;
  const int result = time_call(heapprof::wire::DeviceCall::kAllocateInGraph, size_bytes, hook_frame, add);
  if (result != kCudaSuccess || node == nullptr) return result;
  const bool is_on_device = node->properties.location_type == kCudaLocationDevice;
  note_graph_memory(is_on_device ? device_of_ordinal(node->properties.location_id) : device_of_context());
  note_address(DeviceOperation::kGraphAddress, node->address, hook_frame);
  return result;
}

const CudaAllocationNode* allocation_of(const CudaNode* node) {
  return node != nullptr && node->type == kCudaAllocationNode ? &node->allocation : nullptr;
}

}  // namespace

CUDA_HOOK(cuGraphAddMemAllocNode)
(void** node, void* graph, const void* dependencies, size_t count, CudaAllocationNode* parameters) {
  auto* real = REAL(cuGraphAddMemAllocNode);
  return add_node(parameters, HEAPPROF_HOOK_FRAME(),
                  [&] { return call(real, node, graph, dependencies, count, parameters); });
}

CUDA_HOOK(cuGraphAddNode)(void** node, void* graph, const void* dependencies, size_t count, CudaNode* parameters) {
  auto* real = REAL(cuGraphAddNode);
  const CudaAllocationNode* allocation = allocation_of(parameters);
  if (allocation == nullptr) return call(real, node, graph, dependencies, count, parameters);
  return add_node(allocation, HEAPPROF_HOOK_FRAME(),
                  [&] { return call(real, node, graph, dependencies, count, parameters); });
}

CUDA_HOOK(cuGraphAddNode_v2)
(void** node, void* graph, const void* dependencies, const void* edges, size_t count, CudaNode* parameters) {
  auto* real = REAL(cuGraphAddNode_v2);
  const CudaAllocationNode* allocation = allocation_of(parameters);
  if (allocation == nullptr) return call(real, node, graph, dependencies, edges, count, parameters);
  return add_node(allocation, HEAPPROF_HOOK_FRAME(),
                  [&] { return call(real, node, graph, dependencies, edges, count, parameters); });
}

CUDA_HOOK(cuGraphUpload)(void* executable, void* stream) {
  const int result = call(REAL(cuGraphUpload), executable, stream);
  if (result == kCudaSuccess) ask_graphs(HEAPPROF_HOOK_FRAME());
  return result;
}
CUDA_HOOK(cuGraphUpload_ptsz)(void* executable, void* stream) {
  const int result = call(REAL(cuGraphUpload_ptsz), executable, stream);
  if (result == kCudaSuccess) ask_graphs(HEAPPROF_HOOK_FRAME());
  return result;
}

CUDA_HOOK(cuGraphExecDestroy)(void* executable) {
  const int result = call(REAL(cuGraphExecDestroy), executable);
  if (result == kCudaSuccess) ask_graphs(HEAPPROF_HOOK_FRAME());
  return result;
}

CUDA_HOOK(cuDeviceGraphMemTrim)(int device) {
  const int result = call(REAL(cuDeviceGraphMemTrim), device);
  if (result == kCudaSuccess) ask_graphs(HEAPPROF_HOOK_FRAME());
  return result;
}

CUDA_HOOK(cuDeviceSetGraphMemAttribute)(int device, int attribute, void* value) {
  ask_graphs(HEAPPROF_HOOK_FRAME());
  return call(REAL(cuDeviceSetGraphMemAttribute), device, attribute, value);
}
