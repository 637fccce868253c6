// agent/cuda/holdings.h: what the driver holds of devices for its pools and its graphs: asked where it may have
// changed, told to the collector where it has (wire::Holding).
//
//   pools    when allocations have used up what there was beyond use when the pool was asked last; after frees at the
//   next wait for
//            a stream, event or context, where the driver gives memory back; around what a program does to a pool
//   graphs   only once there are allocation nodes: after the first launch of each graph, uploads, the end of one,
//   trims, and waits
//
// Guarantees
//  - An amount that the driver held for a moment only is seen, too: it is in what the driver says was the most.
//  - No capture of a stream is disturbed: the questions are asked in relaxed mode, and none by a thread that is
//    capturing.
//  - A pool is not asked once its cuMemPoolDestroy has begun.
// Not provided: more than kMostPools at a time; then it is said that there are others. The most of several pools of one
//               device
// together: it is what was seen.
// Context:  wrappers of driver functions. Another thread's question is waited for before a pool is added or ends, and
//           not for ever: if its thread was stopped or ended in it, what is not known by then is said to be missing.
// Cost:     a driver call and an atomic addition for each allocation from a pool; a load for each wait.
#pragma once

#include <stdint.h>

namespace heapprof::agent {

inline constexpr uint32_t kMostPools = 64;

struct PoolSlot {
  uint32_t device;
  uint32_t index;  // in the table; kMostPools: in none
};
// The pool of an allocation that has just returned, put into the table if it is new.
PoolSlot find_pool_slot(uint64_t address);
// The device of a pool that is in the table; else wire::kUnknownCudaDevice.
uint32_t device_of_pool(const void* pool);
// A block was allocated from the pool. The caller records the block first, so that the collector sees it before what
// the pool holds.
void note_pool_block(const PoolSlot& slot, uint64_t size_bytes, const uint64_t* hook_frame);
// Memory was freed that may be a pool's or a graph's.
void note_pool_free();
// Asks the pool: the program did something to it, or is about to.
void ask_pool(void* pool, const uint64_t* hook_frame);
// Takes a pool out of the table before cuMemPoolDestroy. True: it was there; remember_pool puts it back if the call
// fails.
bool forget_pool(void* pool, uint32_t* device, const uint64_t* hook_frame);
void remember_pool(void* pool, uint32_t device, const uint64_t* hook_frame);
// The device's primary context is reset. Its pools live on, but some drivers are said to leave them broken: a pool is
// asked again only once something was allocated from it, and counts until then with what it held last.
void leave_pools_of(uint32_t device);

// A graph has memory of the device from now on.
void note_graph_memory(uint32_t device);
void note_graph_launch(const void* executable, const uint64_t* hook_frame);
void ask_graphs(const uint64_t* hook_frame);

// The program waited for the device.
void note_wait(const uint64_t* hook_frame);

}  // namespace heapprof::agent
