// agent/record/ring_writer.cc: continues in the next chunk of a ring, waits if no chunk is free, and opens a ring for
// its owner.
//
// A full ring means that the collector is behind. The thread waits as long as the collector lives and makes progress: a
// lost event would make every later number of its block wrong.
#include "agent/record/ring_writer.h"

#include "agent/libc/raw.h"
#include "agent/process/generation.h"
#include "agent/record/ring_chunks.h"

#include <errno.h>

namespace heapprof::agent {

namespace {

constexpr int kYields = 4;             // before going to sleep
constexpr long kSleepNs = 10'000'000;  // then the thread checks whether the collector is alive
constexpr uint32_t kPatienceMs = 500;  // with a collector that makes no progress, before a ring grows beyond its share
constexpr uint32_t kPausesPerMs = 20'000;  // of 40 to 140 cycles

void count_lost(Context* context) {
  context->header->events_lost.fetch_add(1, std::memory_order_relaxed);
  require_opening(context);
  context->needs_reset = true;
  reset_stack(context->unwind);
}

bool has_to_spin() { return !may_ask_kernel(); }

void spin_for_a_millisecond() {
  if (!g_use_tsc) {  // the program may have forbidden itself the counter
    for (uint32_t i = 0; i < kPausesPerMs; ++i) pause_processor();
    return;
  }
  const uint64_t start = read_counter();
  const uint64_t millisecond = ticks_per_ms();
  while (read_counter() - start < millisecond) pause_processor();
}

bool is_dropping() { return g_control->full_policy == wire::FullPolicy::kDrop; }

uint64_t tail_of(const Context* context) { return context->header->tail.load(std::memory_order_relaxed); }

// Continues in another chunk, if one is free. Publishes the kChunk record at once, so that the collector knows of the
// chunk whatever becomes of the event that needed it.
bool has_space(Context* context) {
  const bool is_pressed = is_dropping() || has_to_spin() || context->pressed_tail == tail_of(context);
  if (!take_chunk(context, is_pressed)) return false;
  put(context, wire::pack_control(wire::ControlKind::kChunk, context->next_chunk * wire::kChunkBytes));
  publish(context);
  enter_chunk(context);
  return true;
}

// Sleeps until the collector has made progress, 10 ms at most. Returns the milliseconds that passed without progress.
uint32_t sleep_for_space(Context* context, bool* has_found) {
  if (has_to_spin()) {
    spin_for_a_millisecond();
    return 1;
  }
  wire::RingHeader* header = context->header;
  const uint32_t sequence = header->wake_sequence.load(std::memory_order_acquire);
  header->waiting.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // the collector stores tail, fences, loads waiting
  uint32_t waited_ms = 0;
  *has_found = has_space(context);
  if (!*has_found) {
    const long result = sys_futex_wait(&header->wake_sequence, sequence, kSleepNs);
    // If a timer's signals interrupt the sleep, or the kernel refuses it, time passes all the same: count 1 ms.
    if (result == -ETIMEDOUT)
      waited_ms = static_cast<uint32_t>(kSleepNs / 1'000'000);
    else if (is_error(result) && result != -EAGAIN)
      waited_ms = 1;
  }
  header->waiting.store(0, std::memory_order_relaxed);
  return waited_ms;
}

}  // namespace

bool wait_for_space(Context* context) {
  // In a forked child, an event that its parent began ends here: the ring is the parent's.
  if (g_fork_page.state != AgentState::kOn || context->session != g_session) return false;
  if (has_space(context)) {
    context->is_stalled = false;
    return true;
  }
  if (context->is_stalled || is_dropping()) {
    if (is_collector_dead()) turn_off(wire::StopReason::kCollectorDied);
    if (g_control->detach.load(std::memory_order_relaxed) != wire::Detach::kNo) {
      turn_off(wire::StopReason::kDetached);
      return false;
    }
    count_lost(context);
    return false;
  }
  uint64_t seen_tail = tail_of(context);
  uint64_t seen_heartbeat = g_control->heartbeat.load(std::memory_order_relaxed);
  uint32_t idle_ms = 0;
  uint32_t still_ms = 0;
  bool has_found = false;
  for (int round = 0;; ++round) {
    if (g_fork_page.state != AgentState::kOn || context->session != g_session) return false;
    if (is_collector_dead()) {
      turn_off(wire::StopReason::kCollectorDied);
      return false;
    }
    if (g_control->detach.load(std::memory_order_relaxed) != wire::Detach::kNo) {
      turn_off(wire::StopReason::kDetached);
      return false;
    }
    if (round < kYields && !has_to_spin()) {
      sys_yield();
    } else {
      const uint32_t waited_ms = sleep_for_space(context, &has_found);
      idle_ms += waited_ms;
      still_ms += waited_ms;
    }
    const uint64_t tail = tail_of(context);
    if (tail != seen_tail) {
      seen_tail = tail;
      idle_ms = 0;
    }
    const uint64_t heartbeat = g_control->heartbeat.load(std::memory_order_relaxed);
    if (heartbeat != seen_heartbeat) still_ms = 0;
    seen_heartbeat = heartbeat;
    if (still_ms >= kPatienceMs) context->pressed_tail = tail;
    if (has_found || has_space(context)) return true;
    if (idle_ms >= g_control->stall_timeout_ms) {
      context->is_stalled = true;
      count_lost(context);
      return false;
    }
  }
}

bool open_ring(Context* context) {
  if (!reserve(context, 5 * wire::kUnitBytes)) return false;
  const uint64_t now = read_clock();
  context->stamp_base = now;
  context->stamp_delta = 0;
  context->until_stamp = kUnstampedRun;
  put(context, wire::pack_control(wire::ControlKind::kTimestamp, now));
  put(context, wire::pack_control(wire::ControlKind::kThread, context->thread_id));
  context->generation = current_generation();
  put(context, wire::pack_control(wire::ControlKind::kGeneration, context->generation));
  context->told_interval = 0;
  put(context, wire::pack_control(wire::ControlKind::kInterval, 0));
  if (context->needs_reset) {
    put(context,
        wire::pack_control(wire::ControlKind::kReset, context->header->events_lost.load(std::memory_order_relaxed)));
    context->needs_reset = false;
  }
  context->needs_open = false;
  publish(context);
  return true;
}

}  // namespace heapprof::agent
