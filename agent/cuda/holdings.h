// agent/cuda/holdings.h: device memory that the driver holds for its pools and graphs: queried when it may have
// changed, reported to the collector when it has (wire::Holding).
//
//   pools    when allocations have used up what was idle at the last query; after frees, at the next wait for a stream,
//            event or context, where the driver gives memory back; before or after a program's operations on a pool
//   graphs   only once there are allocation nodes: after the first launch of each graph, uploads, a graph's end, trims,
//            and waits
//
// Guarantees
//  - An amount that the driver held only for a moment is seen, too: it is in the driver's high-water mark.
//  - No stream capture is disturbed: queries are made in relaxed mode, and never by a thread that is capturing.
//  - A pool is not queried once its cuMemPoolDestroy has begun.
// Not provided: more than kMostPools at a time; then a record says that there are others. The exact joint maximum of
//               several pools of one device: the agent knows only the sums that it has seen.
// Context:  wrappers of driver functions. Before a pool is added or ends, the thread waits for another thread's query,
//           but only a few seconds: if that thread was stopped or ended during its query, later records say that some
//           pools are missing.
// Cost:     a driver call and an atomic addition for each allocation from a pool; a load for each wait.
#pragma once

#include "agent/arch/arch.h"

#include <stdint.h>

namespace heapprof::agent {

inline constexpr uint32_t kMostPools = 64;

struct PoolSlot {
  uint32_t device;
  uint32_t index;  // in the table; kMostPools: in none
};
// The pool of an allocation that has just returned; puts it into the table if it is new.
PoolSlot find_pool_slot(uint64_t address);
// The device of a pool that is in the table; else wire::kUnknownCudaDevice.
uint32_t device_of_pool(const void* pool);
// Call when a block was allocated from the pool. The caller records the block first, so that the collector sees it
// before what the pool holds.
void note_pool_block(const PoolSlot& slot, uint64_t size_bytes, HookFrame hook_frame);
// Call when memory was freed that may be a pool's or a graph's.
void note_pool_free();
// Queries the pool: the program did something to it, or is about to.
void ask_pool(void* pool, HookFrame hook_frame);
// Takes a pool out of the table before cuMemPoolDestroy. True: it was there; remember_pool puts it back if the call
// fails.
bool forget_pool(void* pool, uint32_t* device, HookFrame hook_frame);
void remember_pool(void* pool, uint32_t device, HookFrame hook_frame);
// Call when the device's primary context is reset. Its pools live on, but some drivers are said to leave them broken: a
// pool is queried again only once something was allocated from it, and counts until then with what it held last.
void leave_pools_of(uint32_t device);

// Call when a graph gets memory of the device.
void note_graph_memory(uint32_t device);
void note_graph_launch(const void* executable, HookFrame hook_frame);
void ask_graphs(HookFrame hook_frame);

// Call when the program has waited for the device.
void note_wait(HookFrame hook_frame);

}  // namespace heapprof::agent
