// agent/record/ring_writer.h: writes records into the ring of a context.
//
// Guarantees
//  - A record is seen whole or not at all; prefixes are published together with their record.
//  - A thread waits for space before it stamps the event, so that it never holds back the collector's watermark.
//
// Context:  between begin_event and end_event.
// Order:    (A) publish() release-stores head; the collector acquire-loads it.
//           (B) in_event is stored before the stamp is taken and cleared after head; FenceMode says which side orders
//               it.
//           (E) wait_for_space() acquire-loads RingHeader::chunks.
// Cost:     1 ns a record; 5-7 ns more if it is stamped.
#pragma once

#include "agent/record/clock.h"
#include "agent/record/context.h"
#include "shared/events.h"

#include <atomic>

namespace heapprof::agent {

inline constexpr uint32_t kUnstampedRun = 32;  // records between two stamps while the process is single-threaded

// The most that is reserved at once: it fits into a chunk, with a kChunk record after it.
inline constexpr uint64_t kMostReservedBytes = wire::kChunkBytes - wire::kUnitBytes;

// Continues in another chunk; may wait for one. False: the event is lost (and counted), or the agent has been turned
// off.
bool wait_for_space(Context* context);

// pre: bytes <= kMostReservedBytes
inline bool reserve(Context* context, uint64_t bytes) {
  if (HEAPPROF_LIKELY(context->head + bytes <= context->limit)) return true;
  return wait_for_space(context);
}

// pre: reserved
inline void put(Context* context, uint64_t w0, uint64_t w1) {
  uint64_t* at = reinterpret_cast<uint64_t*>(context->base + context->head);
  at[0] = w0;
  at[1] = w1;
  context->head += wire::kUnitBytes;
}
inline void put(Context* context, wire::Record record) { put(context, record.w0, record.w1); }

// Publishes everything before `head`.
inline void publish(Context* context, uint64_t head) {
  context->head = head;
  // A signal handler may have forked between begin_event and here: the child must not write its parent's head. (If it
  // has set in_event of the parent's ring, the parent's next event clears that, or the collector ignores it after a
  // while.)
  if (HEAPPROF_UNLIKELY(g_fork_page.state != AgentState::kOn)) return;
  wire::RingHeader* const header = context->header;
  header->head.store(head, std::memory_order_release);   // (A)
  header->in_event.store(0, std::memory_order_release);  // (B)
}
inline void publish(Context* context) { publish(context, context->head); }

inline void make_fences(uint32_t orders_stamps) {
  if ((g_fences & kFenceProducer) != 0) std::atomic_thread_fence(std::memory_order_seq_cst);
  if ((g_fences & (kFenceOrder | kFenceProducer)) != 0 || orders_stamps != 0) order_counter();
}

// Call in a process with several threads: from here on the collector waits for this thread's record.
inline void enter_event(Context* context) {
  context->header->in_event.store(1, std::memory_order_relaxed);  // (B)
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uint32_t orders_stamps = g_sampling.orders_stamps.load(std::memory_order_relaxed);
  if (HEAPPROF_UNLIKELY((g_fences | orders_stamps) != 0)) make_fences(orders_stamps);
}

// A stamp that no other record has, as a delta. May put a kTimestamp record. pre: two units are reserved.
inline uint32_t take_stamp(Context* context) {
  const uint64_t now = read_clock();
  uint64_t delta = now - context->stamp_base;
  if (HEAPPROF_UNLIKELY(delta >> 32 != 0)) {
    context->stamp_base = now;
    delta = 0;
    put(context, wire::pack_control(wire::ControlKind::kTimestamp, now));
  }
  context->stamp_delta = static_cast<uint32_t>(delta);
  return context->stamp_delta;
}

// The stamp of the record to be written now, as a delta. As take_stamp, but in a single-threaded process many records
// share one.
inline uint32_t stamp(Context* context) {
  if (HEAPPROF_LIKELY(*g_single_threaded != 0)) {
    if (HEAPPROF_LIKELY(--context->until_stamp != 0)) return context->stamp_delta;
    context->until_stamp = kUnstampedRun;
  } else {
    enter_event(context);
  }
  return take_stamp(context);
}
// As stamp(), but the record always gets a stamp of its own.
inline uint32_t stamp_anew(Context* context) {
  if (HEAPPROF_LIKELY(*g_single_threaded != 0)) {
    context->until_stamp = kUnstampedRun;
  } else {
    enter_event(context);
  }
  return take_stamp(context);
}

// Writes the records that tell the collector which thread's events follow. False: no space, as in wait_for_space.
bool open_ring(Context* context);

}  // namespace heapprof::agent
