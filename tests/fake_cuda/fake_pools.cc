// tests/fake_cuda/fake_pools.cc: keeps each pool and graph, and ends the program where a real driver would crash.
//
// A test that only compared numbers would not see a question that a real driver punishes.
#include "tests/fake_cuda/fake_pools.h"

#include "tests/fake_cuda/fake_kernels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

struct CUpool_st {
  int device;
  FakePoolKind kind;
  uint64_t held, most, used, most_used, threshold;
};

namespace {

constexpr int kDevices = 2;
constexpr int kCaptureUnsupported = 900;
constexpr int kCaptureInvalidated = 901;
constexpr int kAlreadyRegistered = 712;
constexpr int kNotRegistered = 713;
constexpr uint64_t kGraphBase = 0x7e0000000000;

struct Node {
  CUdeviceptr address;
  int device;
  uint64_t bytes;
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<int> other_nodes;  // by type: 0: kernels, 7: events
};
struct Executable {
  std::vector<Node> nodes;
};
struct GraphMemory {
  uint64_t used, most_used, held, most_held;
};

struct Pools {
  CUpool_st defaults[kDevices] = {{0, FakePoolKind::kDevice, 0, 0, 0, 0, 0}, {1, FakePoolKind::kDevice, 0, 0, 0, 0, 0}};
  CUmemoryPool current[kDevices] = {&defaults[0], &defaults[1]};
  std::set<CUmemoryPool> made;
  struct Block {
    CUmemoryPool pool;
    uint64_t bytes;
  };
  std::map<CUdeviceptr, Block> blocks;
  Graph* captured = nullptr;
  std::set<void*> executables;
  bool is_broken = false;
  CUdeviceptr next_graph_address = kGraphBase;
  std::map<CUdeviceptr, Node> graph_live;
  GraphMemory graphs[kDevices] = {};
  std::map<uint64_t, uint64_t> registered;
};
Pools& pools() {
  static Pools* const instance = new Pools;
  return *instance;
}
thread_local int t_capture_mode = 0;  // global

uint64_t round_up(uint64_t bytes) { return (bytes + kPoolChunk - 1) / kPoolChunk * kPoolChunk; }

// What is left in a pool that gives back all but `least` bytes and what is in use.
uint64_t kept(const CUpool_st& pool, uint64_t least) {
  return std::max(round_up(pool.used), least >= pool.held ? pool.held : round_up(least));
}

// Ends the program where a real driver would crash.
void must_live(CUmemoryPool pool) {
  const bool is_default = pool == &pools().defaults[0] || pool == &pools().defaults[1];
  if (is_default || pools().made.count(pool) != 0) return;
  fprintf(stderr, "fake driver: a pool that is gone\n");
  abort();
}

bool is_forbidden() {
  if (fake_cuda_capturing == nullptr || t_capture_mode == 2) return false;
  pools().is_broken = true;
  return true;
}

void add_node(Graph* graph, CudaAllocationNode* parameters) {
  const Node node{pools().next_graph_address, parameters->properties.location_id, parameters->size_bytes};
  pools().next_graph_address += round_up(node.bytes);
  parameters->address = node.address;
  graph->nodes.push_back(node);
}

void map_graph(Executable* executable) {
  for (const Node& node : executable->nodes) {
    if (!pools().graph_live.emplace(node.address, node).second) continue;
    GraphMemory& memory = pools().graphs[node.device];
    memory.used += node.bytes;
    memory.most_used = std::max(memory.most_used, memory.used);
    memory.held = std::max(memory.held, round_up(memory.used));
    memory.most_held = std::max(memory.most_held, memory.held);
  }
}

}  // namespace

#define ENTER(function)                                          \
  if (const int failure = fake_enter(#function)) return failure; \
  std::lock_guard guard(fake_mutex())

CUmemoryPool fake_default_pool(int device) { return &pools().defaults[device]; }
CUmemoryPool fake_current_pool(int device) { return pools().current[device]; }
int fake_device_of(CUmemoryPool pool) {
  must_live(pool);
  return pool->device;
}

void fake_pool_take(CUmemoryPool pool, CUdeviceptr address, uint64_t bytes) {
  pool->used += bytes;
  pool->most_used = std::max(pool->most_used, pool->used);
  if (pool->used > pool->held) pool->held = round_up(pool->used);
  pool->most = std::max(pool->most, pool->held);
  pools().blocks[address] = {pool, bytes};
}

bool fake_pool_give(CUdeviceptr address) {
  const auto at = pools().blocks.find(address);
  if (at == pools().blocks.end()) return false;
  at->second.pool->used -= at->second.bytes;
  pools().blocks.erase(at);
  return true;
}

CUmemoryPool fake_pool_of(CUdeviceptr address) {
  const auto at = pools().blocks.find(address);
  return at == pools().blocks.end() ? nullptr : at->second.pool;
}

FakePoolKind fake_kind_of(CUdeviceptr address) {
  const CUmemoryPool pool = fake_pool_of(address);
  return pool == nullptr ? FakePoolKind::kDevice : pool->kind;
}

bool fake_breaks_capture() { return is_forbidden(); }

void fake_wait() {
  std::vector<CUmemoryPool> all(pools().made.begin(), pools().made.end());
  for (CUpool_st& pool : pools().defaults) all.push_back(&pool);
  for (CUmemoryPool pool : all) pool->held = kept(*pool, pool->threshold);
}

CUdeviceptr fake_capture(int device, uint64_t bytes) {
  CudaAllocationNode parameters{};
  parameters.properties.location_id = device;
  parameters.size_bytes = bytes;
  Graph lost;
  add_node(pools().captured != nullptr ? pools().captured : &lost, &parameters);
  return parameters.address;
}

bool fake_graph_free(CUdeviceptr address) {
  const auto at = pools().graph_live.find(address);
  if (at == pools().graph_live.end()) return false;
  pools().graphs[at->second.device].used -= at->second.bytes;
  pools().graph_live.erase(at);
  return true;
}

bool fake_capture_node(void* stream, int type) {
  if (stream == nullptr || stream != fake_cuda_capturing) return false;
  if (pools().captured != nullptr) pools().captured->other_nodes.push_back(type);
  return true;
}

// A node's handle is the address of its type.
int cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  errno = kErrnoOfQuestions;
  ENTER(cuGraphGetNodes);
  static int memory_node = 10;
  auto* const of = static_cast<Graph*>(graph);
  const size_t all = of->nodes.size() + of->other_nodes.size();
  for (size_t i = 0; nodes != nullptr && i < std::min(*count, all); ++i)
    nodes[i] = i < of->nodes.size() ? &memory_node : &of->other_nodes[i - of->nodes.size()];
  *count = nodes == nullptr ? all : std::min(*count, all);
  return kSuccess;
}
int cuGraphNodeGetType(void* node, int* type) {
  errno = kErrnoOfQuestions;
  ENTER(cuGraphNodeGetType);
  *type = *static_cast<int*>(node);
  return kSuccess;
}

bool fake_is_graph(void* executable) { return pools().executables.count(executable) != 0; }
void fake_graph_launch(void* executable) { map_graph(static_cast<Executable*>(executable)); }

int cuDeviceGetDefaultMemPool(CUmemoryPool* pool, int device) {
  *pool = fake_default_pool(device);
  return kSuccess;
}
int cuDeviceGetMemPool(CUmemoryPool* pool, int device) {
  *pool = fake_current_pool(device);
  return kSuccess;
}
int cuDeviceSetMemPool(int device, CUmemoryPool pool) {
  ENTER(cuDeviceSetMemPool);
  pools().current[device] = pool;
  return kSuccess;
}
int cuMemPoolCreate(CUmemoryPool* pool, const CudaProperties* properties) {
  ENTER(cuMemPoolCreate);
  const FakePoolKind kind = properties->type == 2            ? FakePoolKind::kManaged
                            : properties->location_type != 1 ? FakePoolKind::kHost
                                                             : FakePoolKind::kDevice;
  *pool = new CUpool_st{kind == FakePoolKind::kDevice ? properties->location_id : 0, kind, 0, 0, 0, 0, 0};
  pools().made.insert(*pool);
  return kSuccess;
}
int cuMemPoolDestroy(CUmemoryPool pool) {
  ENTER(cuMemPoolDestroy);
  must_live(pool);
  if (pools().made.erase(pool) == 0) return kInvalidValue;
  delete pool;
  return kSuccess;
}
int cuMemPoolTrimTo(CUmemoryPool pool, size_t least) {
  ENTER(cuMemPoolTrimTo);
  must_live(pool);
  pool->held = kept(*pool, least);
  return kSuccess;
}
int cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  errno = kErrnoOfQuestions;
  ENTER(cuMemPoolGetAttribute);
  if (is_forbidden()) return kCaptureUnsupported;
  must_live(pool);
  if (attribute < 4 || attribute > 8) return kInvalidValue;
  const uint64_t numbers[] = {pool->threshold, pool->held, pool->most, pool->used, pool->most_used};
  *static_cast<uint64_t*>(value) = numbers[attribute - 4];
  return kSuccess;
}
int cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  ENTER(cuMemPoolSetAttribute);
  must_live(pool);
  if (attribute == 4) pool->threshold = *static_cast<uint64_t*>(value);
  if (attribute == 6) pool->most = pool->held;
  if (attribute == 8) pool->most_used = pool->used;
  return kSuccess;
}

int cuThreadExchangeStreamCaptureMode(int* mode) {
  errno = kErrnoOfQuestions;
  std::swap(*mode, t_capture_mode);
  return kSuccess;
}
int cuStreamBeginCapture_v2(CUstream stream, int) {
  ENTER(cuStreamBeginCapture_v2);
  fake_cuda_capturing = stream;
  pools().captured = new Graph;
  pools().is_broken = false;
  return kSuccess;
}
int cuStreamEndCapture(CUstream, void** graph) {
  ENTER(cuStreamEndCapture);
  fake_cuda_capturing = nullptr;
  *graph = pools().captured;
  pools().captured = nullptr;
  return pools().is_broken ? kCaptureInvalidated : kSuccess;
}
int cuGraphCreate(void** graph, unsigned) {
  ENTER(cuGraphCreate);
  *graph = new Graph;
  return kSuccess;
}
int cuGraphAddMemAllocNode(void** node, void* graph, const void*, size_t, CudaAllocationNode* parameters) {
  ENTER(cuGraphAddMemAllocNode);
  *node = graph;
  add_node(static_cast<Graph*>(graph), parameters);
  return kSuccess;
}
int cuGraphAddNode(void** node, void* graph, const void*, size_t, CudaNode* parameters) {
  ENTER(cuGraphAddNode);
  *node = graph;
  if (parameters->type == 10) add_node(static_cast<Graph*>(graph), &parameters->allocation);
  return kSuccess;
}
int cuGraphAddNode_v2(void** node, void* graph, const void* dependencies, const void*, size_t count,
                      CudaNode* parameters) {
  return cuGraphAddNode(node, graph, dependencies, count, parameters);
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags);
  *executable = new Executable{static_cast<Graph*>(graph)->nodes};
  pools().executables.insert(*executable);
  return kSuccess;
}
int cuGraphInstantiateWithParams(void** executable, void* graph, void*) {
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}
int cuGraphUpload(void* executable, CUstream) {
  ENTER(cuGraphUpload);
  map_graph(static_cast<Executable*>(executable));
  return kSuccess;
}
int cuGraphExecDestroy(void* executable) {
  ENTER(cuGraphExecDestroy);
  for (const Node& node : static_cast<Executable*>(executable)->nodes) fake_graph_free(node.address);
  return kSuccess;  // not deleted: no other may have its address
}
int cuDeviceGraphMemTrim(int device) {
  ENTER(cuDeviceGraphMemTrim);
  pools().graphs[device].held = round_up(pools().graphs[device].used);
  return kSuccess;
}
int cuDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  errno = kErrnoOfQuestions;
  ENTER(cuDeviceGetGraphMemAttribute);
  if (is_forbidden()) return kCaptureUnsupported;
  const GraphMemory& memory = pools().graphs[device];
  const uint64_t numbers[] = {memory.used, memory.most_used, memory.held, memory.most_held};
  *static_cast<uint64_t*>(value) = numbers[attribute];
  return kSuccess;
}
int cuDeviceSetGraphMemAttribute(int device, int attribute, void*) {
  ENTER(cuDeviceSetGraphMemAttribute);
  GraphMemory& memory = pools().graphs[device];
  if (attribute == 1) memory.most_used = memory.used;
  if (attribute == 3) memory.most_held = memory.held;
  return kSuccess;
}

int cuMemHostRegister_v2(void* block, size_t bytes, unsigned) {
  ENTER(cuMemHostRegister_v2);
  const auto address = reinterpret_cast<uint64_t>(block);
  if (bytes == 0) return kInvalidValue;
  for (const auto& [known, size] : pools().registered) {
    if (address < known + size && known < address + bytes) return kAlreadyRegistered;
  }
  pools().registered[address] = bytes;
  return kSuccess;
}
int cuMemHostUnregister(void* block) {
  ENTER(cuMemHostUnregister);
  return pools().registered.erase(reinterpret_cast<uint64_t>(block)) != 0 ? kSuccess : kNotRegistered;
}
