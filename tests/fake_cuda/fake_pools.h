// tests/fake_cuda/fake_pools.h: pools, graphs with memory, and locked memory of the program, beside the fake driver's
// blocks.
//
// A pool takes kPoolChunk at a time from its device; what is not in use goes back at a wait, beyond the pool's
// threshold, or at a trim. A graph's memory is taken at its upload or first launch, and kept for graphs until the
// device is trimmed. A question about either that a capture of another thread forbids breaks that capture; a pool that
// is gone ends the program.
#pragma once

#include "tests/fake_cuda/fake_cuda.h"

#include <mutex>

constexpr uint64_t kPoolChunk = 2 << 20;

// Where a pool's memory is (CUmemAllocationType, CUmemLocationType).
enum class FakePoolKind { kDevice, kHost, kManaged };

// Defined in fake_cuda.cc: its lock, and what each function begins with, which returns what it is to fail with or 0.
std::recursive_mutex& fake_mutex();
int fake_enter(const char* function);

// The functions below are called with the lock held.
CUmemoryPool fake_default_pool(int device);
CUmemoryPool fake_current_pool(int device);
int fake_device_of(CUmemoryPool pool);
void fake_pool_take(CUmemoryPool pool, CUdeviceptr address, uint64_t bytes);
// False: the address is not in a pool.
bool fake_pool_give(CUdeviceptr address);
CUmemoryPool fake_pool_of(CUdeviceptr address);
// kDevice for an address that is not in a pool.
FakePoolKind fake_kind_of(CUdeviceptr address);
void fake_wait();
// A question that a capture of another thread forbids: it breaks that capture.
bool fake_breaks_capture();
// An address that a captured allocation gives out; it belongs to the graph that is being captured, if
// cuStreamBeginCapture made one.
CUdeviceptr fake_capture(int device, uint64_t bytes);
bool fake_graph_free(CUdeviceptr address);
bool fake_is_graph(void* executable);
void fake_graph_launch(void* executable);
