// agent/record/context.h: what one thread needs to record: its ring, its clock, its previous stack.
//
// A thread has a context from its first event on, and one more for each level of signal handlers that ever allocated
// while the level below was inside an event. A context belongs to the same ring all the time. A new thread takes over
// both from an old one if the kernel says that the old thread is gone, or if the new thread's thread-local storage has
// the address of the old one's. There is no clean-up at thread exit, as destructors that run after the agent's would
// still allocate.
//
// A thread that may be under a seccomp filter gets one of the contexts that were prepared before the filter was
// installed. It takes no lock, as it cannot block its signals.
//
// Guarantees
//  - begin_event returns a context that nothing else uses until end_event, or nullptr: then the event is not recorded,
//    and it is counted as lost if it should have been recorded.
//  - An abandoned event (siglongjmp out of a handler, a thread that died) is recognised and repaired.
//
// Context:  inside hooks, in signal handlers too. The fast path takes no lock and makes no system call; claiming a ring
//           blocks signals and takes a lock.
// Cost:     begin_event and end_event together 1-2 ns.
#pragma once

#include "agent/libc/raw.h"
#include "agent/process/state.h"
#include "agent/python/python_stack.h"
#include "agent/unwind/unwind.h"
#include "shared/wire.h"

#include <stdint.h>

#include <atomic>

namespace heapprof::agent {

inline constexpr uint64_t kNotReady = ~uint64_t{0};
inline constexpr uint32_t kMostPushed = 1024;  // NVTX ranges that a thread has pushed and that are recorded

// A thread's PyTorch operators (agent/torch/operators.cc).
struct OperatorTable;
struct TorchOperators {
  OperatorTable* table;  // those that have begun and not ended; nullptr: no operator has begun yet
  uint32_t next;         // the entry at which the search for a free one begins
  bool has_sequence;
  int64_t sequence;  // of the operator that is about to begin
};

struct Context {
  uint64_t guard;  // 0, or the stack pointer of the event in progress; ~0 in the shared context
  // The generation at which records can be written at once; kNotReady: prepare() (record_parts.h) comes first.
  uint64_t ready_for;
  uint64_t stack_ready_for;  // likewise, for records with a stack; always kNotReady if Python's frames are read or
                             // blocks were sampled
  uint64_t base;             // address of the current chunk − chunk_count: the record at count n is at base + n
  uint64_t head;             // next byte to write; header->head follows when a record is published
  uint64_t limit;            // head may grow to here, and a kChunk record still fits; then another chunk is needed
  wire::RingHeader* header;
  UnwindContext* unwind;
  uint64_t stamp_base;   // stamp of the last kTimestamp record
  uint32_t stamp_delta;  // the last record's
  uint32_t until_stamp;  // while single-threaded: records until the next stamp
  uint32_t generation;   // what the last kGeneration record said
  uint32_t reserved;
  // If blocks are sampled (agent/record/sampling.h):
  uint64_t drawn_interval;  // the interval that the distance to the next point was drawn with; 0: not yet
  uint64_t told_interval;   // what the last kInterval record said
  uint64_t random;          // the last random number
  uint32_t session;         // of the session in which it was made (g_session)
  uint32_t thread_id;
  uint32_t ring;
  uint64_t owner;              // the owning thread, atomic (context_table.h); 0: none yet
  bool is_shared;              // several threads take turns, under `lock`
  bool is_stalled;             // the collector made no progress for too long: drop until it does
  bool needs_open;             // the records that open the ring for its owner are still to be written (open_ring)
  bool needs_reset;            // those records must also say that the previous stack is empty (kReset)
  std::atomic<uint32_t> lock;  // shared context only: see agent/process/lock.h
  SignalMask signals;          // shared context only: the holder's signal mask
  Context* nested;             // for signal handlers that interrupt an event of this context
  unsigned char* data;         // the ring's
  uint32_t chunk;              // which one is written to
  uint32_t next_chunk;         // `chunk`, or the one that is being taken
  uint64_t chunk_count;        // where `chunk` begins, as a count of bytes
  uint64_t next_count;         // likewise
  uint64_t pressed_tail;       // while the tail is here, the ring grows without waiting: the collector makes no
                               // progress
  uint64_t launches_reported;  // value of RingHeader::kernel_launches in the last kLaunches record
  uint32_t scope_count;        // scopes ever begun in this ring
  uint32_t scope_changes;      // grows whenever the owner, having launched something, may be in another scope
  uint64_t* reference_pcs;     // --verify-stacks, --unwinder=libunwind: kMaxFrames; nullptr until used
  PythonStack* python;         // nullptr: the process runs no Python, as far as is known
  TorchOperators operators;
  uint32_t pushed;                      // NVTX ranges that the owner has pushed, including those that are not recorded
  Context* older;                       // the next in the list of earlier sessions' contexts (retire_contexts)
  uint64_t pushed_ranges[kMostPushed];  // what they are (agent/nvtx/ranges.cc); untouched if NVTX is not used
};

// Makes the next event write the records that open the ring.
inline void require_opening(Context* context) {
  context->needs_open = true;
  context->ready_for = kNotReady;
  context->stack_ready_for = kNotReady;
}

extern constinit thread_local Context* t_context __attribute__((tls_model("initial-exec")));

// sp: the hook's CFA.
Context* begin_event_slow(uint64_t sp);

// Called when a seccomp filter is coming or a prepared context was taken: maps contexts for threads that may not map
// one themselves. pre: the calling thread is not filtered.
void prepare_contexts();
// Called once Python is found: from now on this context's stacks have Python frames, if there is memory for that.
void start_python(Context* context);
void end_shared_event(Context* context);

// Returns the thread's own context if no event of it is in progress; nullptr: begin_event_slow finds out what to do.
// The context may be of another session: is_ready and is_usable check that. The caller calls them only after the guard
// is set, because a handler may have forked before that.
inline Context* begin_event_fast(uint64_t sp) {
  Context* context = t_context;
  if (HEAPPROF_UNLIKELY(context == nullptr || context->guard != 0)) return nullptr;
  context->guard = sp;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler from here on sees the guard
  return context;
}

// True if events are recorded, and the context is of this session.
inline bool is_usable(const Context* context) {
  return g_fork_page.generation.load(std::memory_order_relaxed) != 0 && context->session == g_session;
}

// pre: begin_event_fast returned it
inline void end_event_fast(Context* context) {
  __atomic_store_n(&context->guard, 0, __ATOMIC_RELEASE);  // pairs with has_events_in_progress
}

inline Context* begin_event(uint64_t sp) {
  Context* context = begin_event_fast(sp);
  if (HEAPPROF_LIKELY(context != nullptr)) {
    if (HEAPPROF_LIKELY(is_usable(context))) return context;
    end_event_fast(context);
  }
  return begin_event_slow(sp);
}

inline void end_event(Context* context) {
  if (HEAPPROF_UNLIKELY(context->is_shared)) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return end_shared_event(context);
  }
  end_event_fast(context);
}

// True if the calling thread is inside an event: then this is a signal handler that interrupted it.
bool is_in_event();
// In a forked child that may make no system call: discards what the interrupted event still writes.
void divert_event();

// In a forked child: forgets every context of the parent's session. Their memory stays mapped: if a signal handler
// forked, the event that it interrupted goes on in it. pre: the agent's lock is held.
void forget_contexts();
// As forget_contexts, in a process that goes on and may have another session: the threads that own the contexts' memory
// will use it again.
// pre: the agent's lock is held, nothing is recorded.
void retire_contexts();
// True if any thread is inside an event. Once recording is off and this is false, no event begins any more.
bool has_events_in_progress();

}  // namespace heapprof::agent
