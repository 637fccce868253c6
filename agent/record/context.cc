// agent/record/context.cc: gives each thread a ring, and distinguishes interrupted events from abandoned ones.
//
// A ring takes 1 MiB of address space and its context 3 MiB, touched only as they are used (ring_chunks.h). If no
// further ring is available (RLIMIT_AS, or more than kMaxRings threads at once), threads share ring 1 under a lock with
// signals blocked: slow, but nothing is lost.
#include "agent/record/context.h"

#include "agent/process/arena.h"
#include "agent/process/lock.h"
#include "agent/process/own_pages.h"
#include "agent/process/thread_stacks.h"
#include "agent/record/abandoned.h"
#include "agent/record/clock.h"
#include "agent/record/context_table.h"
#include "agent/record/ring_chunks.h"
#include "agent/start/start.h"

#include <errno.h>
#include <string.h>

namespace heapprof::agent {

constinit thread_local Context* t_context __attribute__((tls_model("initial-exec")));
Context* g_contexts[wire::kMaxRings];

namespace {

constexpr uint32_t kMaxNested = 8;   // levels of signal handlers
constexpr uint32_t kPrepared = 16;   // contexts for threads that may not map one
constexpr uint32_t kCandidates = 8;  // rings whose owner is checked before a new one is mapped
constexpr uint64_t kContextBytes = (sizeof(Context) + 4095) & ~4095ull;

uint32_t g_next_candidate;

Context* mapped_context(uint32_t ring) {
  return ring < wire::kMaxRings ? __atomic_load_n(&g_contexts[ring], __ATOMIC_ACQUIRE) : nullptr;
}

bool is_used_by_me(const Context* context) {
  for (const Context* used = t_context; used != nullptr; used = used->nested) {
    if (used == context) return true;
  }
  return false;
}

// Maps ring and context number `ring`, if they are not mapped yet. is_claimed: the calling thread will own it. nullptr:
// no memory. pre: the lock is held.
Context* make_context(uint32_t ring, bool is_claimed = false) {
  if (ring >= wire::kMaxRings) return nullptr;
  if (g_contexts[ring] != nullptr) return g_contexts[ring];
  unsigned char* data = map_ring(ring);
  if (data == nullptr) return nullptr;
  const uint64_t size_bytes = kContextBytes + unwind_context_bytes();
  unsigned char* memory = take_older(ring, size_bytes, is_claimed);
  if (memory == nullptr) {
    memory = static_cast<unsigned char*>(map_private(size_bytes));
    if (memory == nullptr) return nullptr;
    note_own_pages(memory, size_bytes);
  }
  Context* context = reinterpret_cast<Context*>(memory);
  context->unwind = make_unwind_context(memory + kContextBytes, &ring_header(ring)->unwind);
  context->data = data;
  context->header = ring_header(ring);
  context->ring = ring;
  context->session = g_session;
  begin_ring(context);
  __atomic_store_n(&g_contexts[ring], context, __ATOMIC_RELEASE);
  return context;
}

// Gives the ring to the calling thread.
void take_context(Context* context, uint32_t thread_id) {
  const bool left_half_way = context->guard != 0;
  resume_ring(context);
  context->thread_id = thread_id;
  context->nested = nullptr;
  context->pushed = 0;
  ++context->scope_changes;
  context->header->in_event.store(0, std::memory_order_relaxed);
  context->header->thread_id.store(thread_id, std::memory_order_relaxed);
  if (left_half_way) {
    context->needs_reset = true;
    g_control->events_abandoned.fetch_add(1, std::memory_order_relaxed);
  }
  reset_stack(context->unwind);  // the stack is another thread's, and may be gone
  context->guard = 0;
  require_opening(context);  // deferred: the ring may be full, and the lock is held
}

// Takes a ring whose thread is gone, or one that the calling thread itself left behind. is_nested: the caller's own
// rings are in use and are skipped.
Context* take_abandoned_ring(uint32_t claimed, uint32_t thread_id, bool is_nested) {
  for (uint32_t tries = 0; tries < kCandidates && tries < claimed; ++tries) {
    g_next_candidate = (g_next_candidate + 1) % claimed;
    Context* context = g_contexts[g_next_candidate];
    if (context == nullptr || context->is_shared) continue;
    const uint64_t owner = owner_of(context);
    if (owner == 0 || (owner & kTaking) != 0) continue;
    if (context->thread_id == thread_id ? is_nested : !is_thread_gone(context->thread_id)) continue;
    if (try_own(context, owner)) return context;
  }
  return nullptr;
}

// Takes a context that has never had an owner. nullptr: every mapped one has had an owner.
Context* take_prepared_context() {
  for (uint32_t ring = 0;; ++ring) {
    Context* context = mapped_context(ring);
    if (context == nullptr) return nullptr;
    if (!context->is_shared && owner_of(context) == 0 && try_own(context, 0)) return context;
  }
}

Context* shared_context() {
  Context* context = g_contexts[kSharedRing];
  return context != nullptr && context->is_shared ? context : nullptr;
}

// Prepares the shared ring when a second ring is requested: later there may be no memory for it.
void prepare_shared_ring() {
  Context* context = make_context(kSharedRing);
  if (context == nullptr || context->is_shared) return;
  context->is_shared = true;
  context->header->shared.store(1, std::memory_order_relaxed);
  take_context(context, 0);
  context->guard = kAlwaysBusy;
}

// Publishes that the rings [0, count) are in use. Called before this ring's first stamp, as the collector may read the
// count without a fence.
void publish_rings(uint32_t count) {
  uint32_t known = g_control->rings_claimed.load(std::memory_order_relaxed);
  while (known < count &&
         !g_control->rings_claimed.compare_exchange_weak(known, count, std::memory_order_release,  // (C)
                                                         std::memory_order_relaxed)) {
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void stamp_every_event() {
  static constexpr char kNever = 0;
  g_single_threaded = &kNever;
}

// Maps further contexts until kPrepared have no owner, or memory runs out. pre: the lock is held.
void map_prepared_contexts() {
  if (make_context(0) == nullptr) return;
  if (shared_context() == nullptr) prepare_shared_ring();
  uint32_t prepared = 0;
  for (uint32_t ring = 0; prepared < kPrepared && ring < wire::kMaxRings; ++ring) {
    const Context* context = make_context(ring);
    if (context == nullptr) return;
    if (!context->is_shared && owner_of(context) == 0) ++prepared;
  }
}

// claim_context for a thread that may be filtered: no system call, no lock, and signals are not blocked. A handler may
// claim another context at any instant. If that handler returns, its context is in the slot, and the one claimed here
// is left for the next claim.
Context* claim_prepared_context(Context* const& slot) {
  const uint32_t thread_id = described_thread_id();
  if (thread_id == 0) return nullptr;
  Context* context = nullptr;
  const uint32_t claimed = g_control->rings_claimed.load(std::memory_order_relaxed);
  for (uint32_t ring = 0; ring < claimed && context == nullptr; ++ring) {
    Context* candidate = mapped_context(ring);
    if (candidate == nullptr) break;
    const uint64_t owner = owner_of(candidate);
    if ((owner & kIdentity) != own_identity() || candidate->is_shared || is_used_by_me(candidate)) continue;
    if (try_own(candidate, owner)) context = candidate;
  }
  if (context == nullptr) context = take_prepared_context();
  if (context == nullptr) return nullptr;
  if (context->ring != 0) stamp_every_event();
  take_context(context, thread_id);
  publish_rings(context->ring + 1);
  finish_owning(context);
  return slot != nullptr && slot->session == g_session ? slot : context;
}

constexpr int kClaimBytes = 1024;  // of stack that claiming a context may take

// Returns a context for this thread. slot: where the caller will keep it, t_context or Context::nested (is_nested).
// nullptr: there is not even a shared ring, or the process only borrows this memory (vfork).
Context* claim_context(Context* const& slot, bool is_nested) {
  if (is_filtered()) return claim_prepared_context(slot);
  touch_stack<kClaimBytes>();
  const SignalsBlocked blocked;
  // A handler may have run since the caller looked, and claimed one.
  if (slot != nullptr && slot->session == g_session) return slot;
  // A vfork child: its parent's thread-local storage must not keep a ring of the child's.
  if (sys_getpid() != g_pid) return nullptr;
  const uint32_t thread_id = static_cast<uint32_t>(sys_gettid());
  const bool has_no_clock = g_use_tsc && is_counter_forbidden();  // its creator forbade it, or a call that bypassed the
                                                                  // agent's hook of prctl
  lock(g_fork_page.lock);
  if (has_no_clock && g_fork_page.state == AgentState::kOn) turn_off(wire::StopReason::kNoClock);
  if (g_fork_page.state != AgentState::kOn) {  // a session ended while this thread waited for the lock (end_session)
    unlock(g_fork_page.lock);
    return nullptr;
  }
  const uint32_t claimed = g_control->rings_claimed.load(std::memory_order_relaxed);
  Context* context = nullptr;
  if (claimed != 0) {
    stamp_every_event();  // from the second ring on
    context = take_abandoned_ring(claimed, thread_id, is_nested);
    if (shared_context() == nullptr) prepare_shared_ring();
  }
  for (uint32_t ring = 0; context == nullptr; ++ring) {
    if (ring != 0 && shared_context() == nullptr) break;
    Context* candidate = make_context(ring, true);
    if (candidate == nullptr) break;
    if (!candidate->is_shared && owner_of(candidate) == 0 && try_own(candidate, 0)) context = candidate;
  }
  if (context != nullptr) {
    take_context(context, thread_id);
    publish_rings(context->ring + 1);
    finish_owning(context);
  } else if (!is_nested) {
    context = shared_context();
    if (context != nullptr) publish_rings(kSharedRing + 1);
  }
  if (has_filters()) {
    map_prepared_contexts();
  } else if (context != nullptr) {
    t_flags |= kThreadUnfiltered;
  }
  unlock(g_fork_page.lock);
  return context;
}

// ---- Nested events ----

// Takes over a context whose event was abandoned, for an event that begins at `sp`, and frees the contexts nested in
// it. A handler may do the same at any instant, so a context is taken before it is repaired.
void take_over(Context* context, uint64_t sp) {
  for (Context* inner = context; inner != nullptr; inner = inner->nested) {
    if (inner->guard == 0 && inner != context) continue;
    inner->guard = sp;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    resume_ring(inner);
    inner->header->in_event.store(0, std::memory_order_release);
    reset_stack(inner->unwind);
    require_opening(inner);
    inner->needs_reset = true;
    g_control->events_abandoned.fetch_add(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (inner != context) inner->guard = 0;
  }
}

// Returns a context of the thread, with its guard set, for an event inside those in progress. nullptr: none is
// available.
Context* begin_nested_event(Context* first, const EventStart& start) {
  const ThreadStacks stacks(may_ask_kernel());
  Context* context = first;
  for (uint32_t level = 0;; ++level, context = context->nested) {
    if (context->guard == 0) {
      context->guard = start.sp;
      // The first event in this context gets a stamp of its own: the events before the handler, in the thread's other
      // ring, have smaller ones.
      context->until_stamp = 1;
      return context;
    }
    if (is_abandoned(stacks, context->guard, start)) {
      take_over(context, start.sp);
      return context;
    }
    if (context->nested != nullptr) continue;
    if (level < kMaxNested) context->nested = claim_context(context->nested, true);
    if (context->nested == nullptr) break;
  }
  for (context = first; context != nullptr; context = context->nested) {
    if (!leads_nowhere(stacks, context->guard, start)) continue;
    take_over(context, start.sp);
    return context;
  }
  return nullptr;
}

Context* begin_shared_event(Context* context) {
  SignalMask previous;
  const SignalMask all = ~SignalMask{0};
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&previous),
              sizeof(SignalMask));
  lock(context->lock);
  if (!is_usable(context)) {  // a session ended since
    unlock(context->lock);
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&previous), 0, sizeof(SignalMask));
    return nullptr;
  }
  context->signals = previous;
  const uint32_t thread_id = static_cast<uint32_t>(sys_gettid());
  if (context->thread_id != thread_id) {
    context->thread_id = thread_id;
    reset_stack(context->unwind);
    require_opening(context);
  }
  return context;
}

void count_lost() { g_control->events_lost.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

Context* begin_event_slow(uint64_t sp) {
  if ((t_flags & kThreadInside) != 0) {
    if ((t_flags & kThreadWithoutClock) != 0) count_lost();
    if ((t_flags & kThreadSelfTest) != 0) g_self_test_events = g_self_test_events + 1;
    return nullptr;
  }
  if (g_fork_page.state == AgentState::kOff) return nullptr;
  if (g_fork_page.state == AgentState::kUnknown && !start_session()) return nullptr;

  Context* context = t_context;
  if (context != nullptr && context->session != g_session) context = nullptr;
  if (context == nullptr) {
    context = claim_context(t_context, false);
    if (context == nullptr) {
      count_lost();
      return nullptr;
    }
    t_context = context;
  }
  if (context->is_shared) {
    if (!is_filtered()) return begin_shared_event(context);
    count_lost();
    return nullptr;
  }

  if (context->guard == 0) {
    context->guard = sp;
  } else {
    context = begin_nested_event(context, {sp, reinterpret_cast<uint64_t>(__builtin_frame_address(0))});
    if (context == nullptr) {
      count_lost();
      return nullptr;
    }
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (is_usable(context)) return context;
  context->guard = 0;  // a handler has forked since, and this is the child: its session begins with its next event
  return nullptr;
}

void end_shared_event(Context* context) {
  const SignalMask previous = context->signals;
  unlock(context->lock);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&previous), 0, sizeof(SignalMask));
}

bool is_in_event() {
  const Context* context = t_context;
  return context != nullptr && context->guard != 0 && context->guard != kAlwaysBusy;
}

// The interrupted code may have the address of its next record, 32 bytes at most, in a register. Then it still writes
// into its parent's ring, but the same bytes as its parent does.
void divert_event() {
  HEAPPROF_LARGE static unsigned char nowhere[wire::kLargeRingBytes];
  static wire::RingHeader header_of_nowhere;
  for (Context* context = t_context; context != nullptr; context = context->nested) {
    point_ring_to(context, nowhere);
    context->header = &header_of_nowhere;
  }
}

void prepare_contexts() {
  const SignalsBlocked blocked;
  if (sys_getpid() != g_pid) return;
  lock(g_fork_page.lock);
  if (g_fork_page.state == AgentState::kOn) map_prepared_contexts();
  unlock(g_fork_page.lock);
}

}  // namespace heapprof::agent
