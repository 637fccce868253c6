// agent/record/record.h: one call per event, of the malloc family or of a device.
//
// Guarantees
//  - A hook's errno is untouched. A call that finds no context or no space changes nothing but a counter.
// Context:  hooks, before or after the real function, never in it.
// Cost:     tests/bench/runs has the figures: 24 ns a malloc and free at depth 30 in the design's prototype.
#pragma once

#include "agent/arch/arch.h"
#include "agent/unwind/unwind.h"
#include "shared/scopes.h"

#include <cstddef>

namespace heapprof::agent {

// The state of the hook's caller.
inline StartFrame caller_of(HookFrame hook_frame) {
  return {returns_to(hook_frame), cfa_of(hook_frame), bp_behind(hook_frame)};
}

struct Context;

// Records a block after the real call has returned it: kMalloc or kReallocEnd.
void record_stacked(wire::RecordType type, const void* block, size_t size_bytes, HookFrame hook_frame);
// As record_stacked, in an event that has begun; ends the event. interval_bytes: the sampling interval that chose the
// block; 0: every block is recorded.
void record_begun_by(wire::RecordType type, Context* context, const void* block, size_t size_bytes,
                     uint64_t interval_bytes, HookFrame hook_frame);
inline void record_begun(wire::RecordType type, Context* context, const void* block, size_t size_bytes,
                         HookFrame hook_frame) {
  record_begun_by(type, context, block, size_bytes, 0, hook_frame);
}
// Records the result of a realloc that returned no block to record: kReallocCancel or kReallocFree. Ends the event.
void record_ended(Context* context, wire::RecordType type);
// As record_begun, if the record's first word is known and the context is ready (record_fast.h); ends the event.
void record_changed(Context* context, uint64_t w0, HookFrame hook_frame);
inline void record_malloc(const void* block, size_t size_bytes, HookFrame hook_frame) {
  record_stacked(wire::RecordType::kMalloc, block, size_bytes, hook_frame);
}
// Records the end of a block, before the real call. pre: block is not nullptr.
void record_free(const void* block, HookFrame hook_frame);
// As record_free, for a block whose end has to be recorded, as the caller has checked (agent/record/sampling.h).
void record_reported_free(const void* block, HookFrame hook_frame);
// Records that realloc is about to be called on a block. pre: block is not nullptr. False: that block's end need not be
// recorded, and the result is recorded as a new block.
[[nodiscard]] bool record_realloc_begin(const void* block, HookFrame hook_frame);
// Records that realloc returned nullptr: it failed, or it freed the block because size_bytes was 0.
void record_realloc_failed(const void* begun, size_t size_bytes, HookFrame hook_frame);
// Records what realloc returned. begun: the block that record_realloc_begin recorded; nullptr: it recorded none
inline void record_realloc_end(const void* begun, const void* fresh, size_t size_bytes, HookFrame hook_frame) {
  const auto type = begun != nullptr ? wire::RecordType::kReallocEnd : wire::RecordType::kMalloc;
  if (fresh != nullptr) return record_stacked(type, fresh, size_bytes, hook_frame);
  if (begun != nullptr) record_realloc_failed(begun, size_bytes, hook_frame);
}

// An operation on memory of a device: recorded after a call that allocates has returned, and before one that frees.
struct DeviceRecord {
  wire::DeviceOperation operation;
  uint32_t device;  // wire::kFirstCudaDevice + ordinal …; ignored where memory ends
  uint64_t object;  // context or handle; 0: none
  uint64_t address;
  uint64_t size_bytes;
};
void record_device(const DeviceRecord& record, HookFrame hook_frame);

// Called before a stack is captured in an event off the fast path; nullptr: no subscriber
// (agent/hooks/python_objects.h).
extern void (*g_at_stack)();

// A subscriber that waits until it may call into a library of the program. It may do so right after an event in which
// no function of that library is on the thread's stack. nullptr: no subscriber.
struct Waiting {
  bool (*is_time)(const uint64_t* pcs_avma, uint32_t count);  // checks the event's stack, innermost frame first
  void (*act)();
};
extern std::atomic<const Waiting*> g_waiting;

// Returns the calling thread's own context; if the thread has none yet, begins an event to get one. nullptr: the thread
// cannot get one, or uses the shared one.
Context* own_context(HookFrame hook_frame);

// Records an operation on a scope, or a mark. id: 0 for a scope that begins: it is assigned here. Returns the scope's
// id; 0: nothing was recorded.
// pre: `name` is of this session
uint64_t record_scope(wire::ScopeOperation operation, uint32_t name, uint64_t id, HookFrame hook_frame);
// The begin of a scope that is an operator: wire::pack_operator.
uint64_t record_operator(uint32_t name, uint32_t operator_word, HookFrame hook_frame);
// Names the block at that address from now on. pre: the block is not nullptr; `name` is of this session
void record_block_name(const void* block, uint32_t name, HookFrame hook_frame);
// Records that the memory at that address is a tensor's. name: 0: unnamed. pre: as above
void record_tensor(const void* block, wire::TensorRole role, uint32_t name, HookFrame hook_frame);
// Records the launch of a kernel or a graph (shared/kernels.h).
void record_launch(wire::Record launch, HookFrame hook_frame);
// Records that an interval of GPU time begins in the thread's innermost scope, or that its duration is known
// (wire::ScopeOperation).
void record_gpu_interval(wire::ScopeOperation operation, uint64_t id, uint64_t duration_ns, HookFrame hook_frame);
// Called when a scope is about to end. It may be left out if the thread has launched nothing since its scopes last
// changed. nullptr: no subscriber (agent/cuda/gpu_time.h).
extern void (*g_at_scope_end)(HookFrame hook_frame);
// Records how many items a scope that is about to end processed.
void record_scope_items(uint64_t id, uint64_t items, HookFrame hook_frame);

}  // namespace heapprof::agent
