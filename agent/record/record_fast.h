// agent/record/record_fast.h: the common path of the records of the heap, inlined into the hooks.
//
// It makes no call, so that few registers are saved and reloaded: saving them, not the checks, was most of a record's
// cost. Every uncommon case goes to record.cc, which starts over.
//
// The order matters: a block's begin is stamped after the real call has returned, and its end before the real call. So
// no other thread's record of the same address can lie between a call and its record.
#pragma once

#include "agent/process/loaded_object.h"
#include "agent/record/record.h"
#include "agent/record/ring_writer.h"
#include "agent/record/sampling.h"
#include "agent/unwind/unwind_fast.h"

namespace heapprof::agent {

// Room for a record and everything that may come before it: kGeneration, kTimestamp and five prefixes.
inline constexpr uint64_t kRecordBytes = 8 * wire::kUnitBytes;

// True if a record with all that may come before it can be written at once: in this session, at this generation.
inline bool is_ready(const Context* context) {
  return HEAPPROF_LIKELY(context->ready_for == g_fork_page.generation.load(std::memory_order_relaxed)) &&
         HEAPPROF_LIKELY(context->head + kRecordBytes <= context->limit);
}

// As is_ready, for a record with a stack.
inline bool is_stack_ready(const Context* context) {
  return HEAPPROF_LIKELY(context->stack_ready_for == g_fork_page.generation.load(std::memory_order_relaxed)) &&
         HEAPPROF_LIKELY(context->head + kRecordBytes <= context->limit);
}

// As wire::is_compact_address, in half the instructions. pre: address is not 0
inline bool is_compact(uint64_t address) { return (address & ~(((1ull << wire::kAddressBits) - 1) << 3)) == 0; }

// Writes a record with at most one program counter. pre: is_ready
template <bool kHasFresh>
[[gnu::always_inline]] inline void write_short(Context* context, uint64_t w0, uint32_t keep, uint64_t fresh_avma) {
  const uint32_t stamp_delta = stamp(context);
  const uint64_t head = context->head;
  uint64_t* at = reinterpret_cast<uint64_t*>(context->base + head);
  at[0] = w0;
  at[1] = wire::pack_w1(stamp_delta, keep, kHasFresh ? 1 : 0);
  if (kHasFresh) {
    at[2] = fresh_avma;
    at[3] = 0;
  }
  publish(context, head + (kHasFresh ? 2 : 1) * wire::kUnitBytes);
}

// pre for all functions below: the block is not nullptr.

// Records a block whose stack equals that of the thread's previous record, or differs from it only in the calling line;
// any other block goes to record.cc.
template <wire::RecordType kType>
[[gnu::always_inline]] inline void record_stacked_fast(const void* block, size_t size_bytes, HookFrame hook_frame) {
  if (HEAPPROF_UNLIKELY(is_sampling())) return record_sampled(kType, block, size_bytes, hook_frame);
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  const uint64_t sp = cfa_of(hook_frame);
  Context* context = begin_event_fast(sp);
  if (HEAPPROF_UNLIKELY(context == nullptr)) return record_stacked(kType, block, size_bytes, hook_frame);
  if (HEAPPROF_UNLIKELY(!is_stack_ready(context) || !is_compact(address) || !wire::is_compact_size(size_bytes)))
    return record_begun(kType, context, block, size_bytes, hook_frame);
  const uint64_t w0 = wire::pack_w0(kType, address, size_bytes);
  switch (compare_plain_stack(context->unwind, returns_to(hook_frame), sp)) {
    case Likeness::kSame: write_short<false>(context, w0, context->unwind->plain_count, 0); break;
    case Likeness::kOtherLine:
      write_short<true>(context, w0, context->unwind->plain_count - 1, returns_to(hook_frame));
      break;
    case Likeness::kOther: return record_changed(context, w0, hook_frame);
  }
  end_event_fast(context);
}

[[gnu::always_inline]] inline void record_malloc_fast(const void* block, size_t size_bytes, HookFrame hook_frame) {
  record_stacked_fast<wire::RecordType::kMalloc>(block, size_bytes, hook_frame);
}

// Records the end, or possible end, of a block. False: nothing was recorded; record.cc has to record it.
template <wire::RecordType kType>
[[gnu::always_inline]] inline bool record_ending_fast(const void* block, HookFrame hook_frame) {
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  if (HEAPPROF_UNLIKELY(is_sampling())) return false;
  if (HEAPPROF_UNLIKELY(is_loader(returns_to(hook_frame)))) return false;
  Context* context = begin_event_fast(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return false;
  const bool can_write = is_ready(context) && HEAPPROF_LIKELY(is_compact(address));
  if (can_write) write_short<false>(context, wire::pack_w0(kType, address, 0), 0, 0);
  end_event_fast(context);
  return can_write;
}

[[gnu::always_inline]] inline bool record_free_fast(const void* block, HookFrame hook_frame) {
  return record_ending_fast<wire::RecordType::kFree>(block, hook_frame);
}

// As record_realloc_begin.
[[gnu::always_inline, nodiscard]] inline bool record_realloc_begin_fast(const void* block, HookFrame hook_frame) {
  if (HEAPPROF_LIKELY(record_ending_fast<wire::RecordType::kReallocBegin>(block, hook_frame))) return true;
  return record_realloc_begin(block, hook_frame);
}

// Records the end of a Python object. False: nothing was recorded.
[[gnu::always_inline]] inline bool record_object_end_fast(const void* block, uint64_t sp) {
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  Context* context = begin_event_fast(sp);
  if (HEAPPROF_UNLIKELY(context == nullptr)) return false;
  const bool can_write = is_ready(context) && HEAPPROF_LIKELY(is_compact(address));
  if (can_write) {
    const uint32_t stamp_delta = stamp(context);
    const uint64_t head = context->head;
    uint64_t* at = reinterpret_cast<uint64_t*>(context->base + head);
    at[0] = static_cast<uint64_t>(wire::RecordType::kPrefixDevice) << 60;
    at[1] = wire::pack_device(wire::DeviceOperation::kEndInner, wire::kPythonDevice);
    at[2] = wire::pack_w0(wire::RecordType::kFree, address, 0);
    at[3] = wire::pack_w1(stamp_delta, 0, 0);
    publish(context, head + 2 * wire::kUnitBytes);
  }
  end_event_fast(context);
  return can_write;
}

// As record_realloc_end.
[[gnu::always_inline]] inline void record_realloc_end_fast(const void* begun, const void* fresh, size_t size_bytes,
                                                           HookFrame hook_frame) {
  if (HEAPPROF_UNLIKELY(begun == nullptr || fresh == nullptr))
    return record_realloc_end(begun, fresh, size_bytes, hook_frame);
  record_stacked_fast<wire::RecordType::kReallocEnd>(fresh, size_bytes, hook_frame);
}

static_assert(wire::kMaxRings <= 1u << (wire::kScopeIdBits - wire::kScopeCountBits));

inline uint64_t next_scope_id(Context* context) {
  constexpr uint32_t kMask = (uint32_t{1} << wire::kScopeCountBits) - 1;
  context->scope_count = (context->scope_count & kMask) == kMask ? 1 : context->scope_count + 1;
  return static_cast<uint64_t>(context->ring) << wire::kScopeCountBits | context->scope_count;
}

// As record_scope. 0: nothing was recorded; call record_scope.
template <wire::ScopeOperation kOperation>
[[gnu::always_inline]] inline uint64_t record_scope_fast(uint32_t name, uint64_t id, HookFrame hook_frame) {
  Context* const context = begin_event_fast(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return 0;
  const bool can_write =
      is_ready(context) && HEAPPROF_LIKELY(g_use_tsc) &&
      HEAPPROF_LIKELY(context->header->kernel_launches.load(std::memory_order_relaxed) == context->launches_reported);
  if (can_write) {
    if (kOperation == wire::ScopeOperation::kBegin) id = next_scope_id(context);
    const uint32_t delta = stamp_anew(context);
    const uint64_t head = context->head;
    uint64_t* at = reinterpret_cast<uint64_t*>(context->base + head);
    at[0] = wire::pack_scope(kOperation, name, id);
    at[1] = wire::pack_w1(delta, 0, 0);
    publish(context, head + wire::kUnitBytes);
  }
  end_event_fast(context);
  return can_write ? id : 0;
}

// Records a launch (shared/kernels.h). False: nothing was recorded; call record_launch.
[[gnu::always_inline]] inline bool record_launch_fast(wire::Record launch, HookFrame hook_frame) {
  Context* const context = begin_event_fast(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return false;
  const bool can_write = is_ready(context);
  if (can_write) {
    const uint64_t head = context->head;
    uint64_t* at = reinterpret_cast<uint64_t*>(context->base + head);
    at[0] = launch.w0;
    at[1] = launch.w1;
    publish(context, head + wire::kUnitBytes);
  }
  end_event_fast(context);
  return can_write;
}

}  // namespace heapprof::agent
