// agent/record/context.cc: gives each thread a ring, and tells an event that was interrupted from one that was
// abandoned.
//
// A ring costs 1 MiB of address space and its context 3, touched only as they are used (ring_chunks.h). Where no more
// can be had (RLIMIT_AS, or more than kMaxRings threads at once), threads share ring 1 behind a lock with signals
// blocked: slow, but nothing is lost.
#include "agent/record/context.h"

#include "agent/process/arena.h"
#include "agent/process/lock.h"
#include "agent/process/thread_stacks.h"
#include "agent/record/ring_chunks.h"
#include "agent/start/start.h"

#include <errno.h>
#include <string.h>

namespace heapprof::agent {

constinit thread_local Context* t_context __attribute__((tls_model("initial-exec")));

namespace {

constexpr uint32_t kSharedRing = 1;  // kept free for the threads that find no ring of their own
constexpr uint32_t kMaxNested = 8;   // levels of signal handlers
constexpr uint32_t kCandidates = 8;  // rings whose owner is looked at before a new one is mapped
constexpr uint64_t kContextBytes = (sizeof(Context) + 4095) & ~4095ull;
constexpr uint64_t kAlwaysBusy = ~0ull;  // guard of the shared context: leads every event to the slow path

Context* g_contexts[wire::kMaxRings];
uint32_t g_next_candidate;

bool is_thread_gone(uint32_t thread_id) { return raw_syscall(SYS_tkill, static_cast<long>(thread_id), 0) == -ESRCH; }

// Maps ring and context number `ring`. nullptr: no memory. pre: the lock is held.
Context* make_context(uint32_t ring) {
  unsigned char* data = map_ring(ring);
  if (data == nullptr) return nullptr;
  const uint64_t size_bytes = kContextBytes + unwind_context_bytes();
  unsigned char* memory = static_cast<unsigned char*>(map_private(size_bytes));
  if (memory == nullptr) return nullptr;
  Context* context = reinterpret_cast<Context*>(memory);
  context->unwind = make_unwind_context(memory + kContextBytes, &ring_header(ring)->unwind);
  context->data = data;
  context->header = ring_header(ring);
  context->ring = ring;
  context->birth = g_birth;
  begin_ring(context);
  g_contexts[ring] = context;
  return context;
}

// Gives the ring to the calling thread.
void take_context(Context* context, uint32_t thread_id) {
  const bool left_half_way = context->guard != 0;
  resume_ring(context);
  context->thread_id = thread_id;
  context->nested = nullptr;
  context->header->in_event.store(0, std::memory_order_relaxed);
  context->header->thread_id.store(thread_id, std::memory_order_relaxed);
  if (left_half_way) {
    context->needs_reset = true;
    g_control->events_abandoned.fetch_add(1, std::memory_order_relaxed);
  }
  reset_stack(context->unwind);  // another thread's, on a stack that may be gone
  context->guard = 0;
  require_opening(context);  // not now: the ring may be full, and the lock is held
}

// A ring whose thread is gone, or one that the calling thread itself left behind. is_nested: the caller's own rings are
// in use, and are not taken.
Context* find_abandoned_ring(uint32_t claimed, uint32_t thread_id, bool is_nested) {
  for (uint32_t tries = 0; tries < kCandidates && tries < claimed; ++tries) {
    g_next_candidate = (g_next_candidate + 1) % claimed;
    Context* context = g_contexts[g_next_candidate];
    if (context == nullptr || context->is_shared) continue;
    if (context->thread_id == thread_id ? !is_nested : is_thread_gone(context->thread_id)) return context;
  }
  return nullptr;
}

Context* shared_context() {
  Context* context = g_contexts[kSharedRing];
  return context != nullptr && context->is_shared ? context : nullptr;
}

// Makes the shared ring ready when a second ring is asked for: later there may be no memory left for it.
void prepare_shared_ring() {
  Context* context = make_context(kSharedRing);
  if (context == nullptr) return;
  context->is_shared = true;
  context->header->shared.store(1, std::memory_order_relaxed);
  take_context(context, 0);
  context->guard = kAlwaysBusy;
}

// A context for this thread. slot: where the caller will keep it, t_context or Context::nested (is_nested). nullptr:
// there is not even a shared ring, or the process only borrows this memory.
Context* claim_context(Context* const& slot, bool is_nested) {
  if (is_filtered()) return nullptr;
  SignalsBlocked blocked;
  // A handler may have run since the caller looked, and have claimed one.
  if (slot != nullptr && slot->birth == g_birth) return slot;
  // A vfork child: its parent's thread-local storage must not keep a ring of the child's.
  if (sys_getpid() != g_pid) return nullptr;
  const uint32_t thread_id = static_cast<uint32_t>(sys_gettid());
  lock(g_fork_page.lock);
  uint32_t claimed = g_control->rings_claimed.load(std::memory_order_relaxed);
  Context* context = nullptr;
  if (claimed == 0) {
    context = make_context(0);
    claimed = 1;
  } else {
    static constexpr char kNever = 0;
    g_single_threaded = &kNever;  // from the second ring on every event is stamped
    context = find_abandoned_ring(claimed, thread_id, is_nested);
    if (context == nullptr) {
      if (shared_context() == nullptr) prepare_shared_ring();
      if (claimed == 1) claimed = 2;
      if (claimed < wire::kMaxRings && shared_context() != nullptr) {
        context = make_context(claimed);
        if (context != nullptr) ++claimed;
      }
    }
  }
  if (context != nullptr) {
    take_context(context, thread_id);
  } else if (!is_nested) {
    context = shared_context();
  }
  g_control->rings_claimed.store(claimed, std::memory_order_release);  // (C)
  // Before this ring's first stamp: the collector may look without a fence.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  unlock(g_fork_page.lock);
  return context;
}

// ---- Events that were abandoned ----
//
// A handler that interrupted an event finds it in progress, and so does whoever runs after a handler that jumped out of
// it. The first must leave it alone: it goes on where it was, and two that write into one ring destroy it. The second
// need not be told apart at once, as there are more contexts. So an event counts as interrupted until something proves
// that it was abandoned:
//  - Its hook's frame is in use again: the return address lies in the frames of this very call.
//  - This event began on the same stack, and not below it. Which addresses are on one stack is known of the thread's
//    own stack and of its alternate one (process/thread_stacks.h); what lies elsewhere may be any coroutine's.
//  - It began on an alternate stack that stays installed while handlers run there, and this one on the thread's own.
//  - Where there is no further context: it began above on the same stack, and between the two is no word that leads
//    into the agent. Had it been interrupted, a return address or the signal's frame would be there.
// What began inside an abandoned event was abandoned with it.

constexpr uint64_t kMostSearchedBytes = 256u << 10;

// Where an event begins: the stack pointer of its hook's caller, and one in this call.
struct Start {
  uint64_t sp;
  uint64_t own_sp;
};

bool is_abandoned(const ThreadStacks& stacks, uint64_t old_sp, const Start& start) {
  if (old_sp > start.own_sp && old_sp <= start.sp) return true;
  if (start.sp >= old_sp && stacks.is_same(old_sp, start.sp)) return true;
  return stacks.is_alternate_left(old_sp, start.sp);
}

// By the linker: where the agent begins, and what stands behind its code.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _DYNAMIC[] __attribute__((visibility("hidden")));
}

bool leads_nowhere(const ThreadStacks& stacks, uint64_t old_sp, const Start& start) {
  if (old_sp <= start.sp || old_sp - start.sp > kMostSearchedBytes || ((old_sp | start.sp) & 7) != 0) return false;
  if (!stacks.is_same(old_sp, start.sp)) return false;
  const auto code_avma = reinterpret_cast<uint64_t>(__ehdr_start);
  const uint64_t code_bytes = reinterpret_cast<uint64_t>(_DYNAMIC) - code_avma;
  for (uint64_t at = start.sp; at < old_sp; at += 8) {
    if (*reinterpret_cast<const uint64_t*>(at) - code_avma < code_bytes) return false;
  }
  return true;
}

// Takes the context, whose event was abandoned, for an event that begins at `sp`, and frees those nested in it. A
// handler may do the same at any instant: so a context is taken before it is repaired.
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

// The thread's context for an event inside those in progress, whose guard is set. nullptr: there is none.
Context* begin_nested_event(Context* first, const Start& start) {
  // Under a filter that was not seen coming, a system call may kill (FilterState::kPossible).
  const ThreadStacks stacks(g_control->filter.load(std::memory_order_relaxed) == wire::FilterState::kNone);
  Context* context = first;
  for (uint32_t level = 0;; ++level, context = context->nested) {
    if (context->guard == 0) {
      context->guard = start.sp;
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
  while (__atomic_exchange_n(&context->lock, 1, __ATOMIC_ACQUIRE) != 0) sys_yield();
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
  if (t_flags != 0) {
    if ((t_flags & kThreadSelfTest) != 0) g_self_test_events = g_self_test_events + 1;
    return nullptr;
  }
  if (g_fork_page.state == AgentState::kOff) return nullptr;
  if (g_fork_page.state == AgentState::kUnknown && !start_life()) return nullptr;

  Context* context = t_context;
  if (context != nullptr && context->birth != g_birth) context = nullptr;
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
  context->guard = 0;  // a handler has forked since, and this is the child: its life begins with its next event
  return nullptr;
}

void end_shared_event(Context* context) {
  const SignalMask previous = context->signals;
  __atomic_store_n(&context->lock, 0u, __ATOMIC_RELEASE);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&previous), 0, sizeof(SignalMask));
}

bool is_in_event() {
  const Context* context = t_context;
  return context != nullptr && context->guard != 0 && context->guard != kAlwaysBusy;
}

// The interrupted code may have the address of its next two words in a register. It writes there what its parent writes
// there, too.
void divert_event() {
  static unsigned char nowhere[wire::kLargeRingBytes];
  static wire::RingHeader header_of_nowhere;
  for (Context* context = t_context; context != nullptr; context = context->nested) {
    lead_ring_to(context, nowhere);
    context->header = &header_of_nowhere;
  }
}

void forget_contexts() {
  for (Context*& context : g_contexts) {
    // A thread that still holds this context is led to the slow path, which sees that its life is over.
    if (context != nullptr && context->guard == 0) context->guard = kAlwaysBusy;
    context = nullptr;
  }
  t_context = nullptr;
}

}  // namespace heapprof::agent
