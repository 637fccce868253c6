// agent/record/record_fast.h: the common path of record_malloc and record_free, inlined into malloc and free.
//
// It makes no call, so that little has to be saved and reloaded: that, and not the checks, was most of what a record
// cost. Whatever is not common leads to record.cc, which does all of it again.
//
// The order is part of the truth: a block's begin is stamped after the real call returned and its end before the real
// call, so that no other thread's record of the same address can lie between the two calls and the two records.
#pragma once

#include "agent/process/loaded_object.h"
#include "agent/record/record.h"
#include "agent/record/ring_writer.h"
#include "agent/unwind/unwind_fast.h"

namespace heapprof::agent {

// Room for a record and everything that may come before it: kAge, kTimestamp and five prefixes.
inline constexpr uint64_t kRecordBytes = 8 * wire::kUnitBytes;

// True if a record with all that may come before it can be written at once: in this life, at this age.
inline bool is_ready(const Context* context) {
  return HEAPPROF_LIKELY(context->ready_for == g_fork_page.age.load(std::memory_order_relaxed)) &&
         HEAPPROF_LIKELY(context->head + kRecordBytes <= context->limit);
}

// Writes a record of one unit.
[[gnu::always_inline]] inline void write_unit(Context* context, uint64_t w0, uint32_t keep) {
  const uint32_t stamp_delta = stamp(context);
  put(context, w0, wire::pack_w1(stamp_delta, keep, 0));
  publish(context);
}

// Records a block whose stack is that of the thread's previous record; any other goes to record.cc.
[[gnu::always_inline]] inline void record_malloc_fast(const void* block, size_t size_bytes,
                                                      const uint64_t* hook_frame) {
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  const uint64_t sp = cfa_of(hook_frame);
  Context* context = begin_event_fast(sp);
  if (HEAPPROF_UNLIKELY(context == nullptr)) return record_malloc(block, size_bytes, hook_frame);
  if (is_ready(context) && HEAPPROF_LIKELY(wire::is_compact_address(address) && wire::is_compact_size(size_bytes)) &&
      is_same_plain_stack(context->unwind, hook_frame[1], sp)) {
    write_unit(context, wire::pack_w0(wire::RecordType::kMalloc, address, size_bytes), context->unwind->plain_count);
    end_event_fast(context);
  } else {
    record_begun_malloc(context, block, size_bytes, hook_frame);
  }
}

// False: nothing was recorded.
[[gnu::always_inline]] inline bool record_free_fast(const void* block, uint64_t sp) {
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  if (HEAPPROF_UNLIKELY(is_loader(*reinterpret_cast<const uint64_t*>(sp - 8)))) return false;
  Context* context = begin_event_fast(sp);
  if (HEAPPROF_UNLIKELY(context == nullptr)) return false;
  const bool can_write = is_ready(context) && HEAPPROF_LIKELY(wire::is_compact_address(address));
  if (can_write) write_unit(context, wire::pack_w0(wire::RecordType::kFree, address, 0), 0);
  end_event_fast(context);
  return can_write;
}

}  // namespace heapprof::agent
