// agent/record/context.h: what one thread needs to record: its ring, its clock, its previous stack.
//
// A thread has a context from its first event on, and one more for each level of signal handlers that ever allocated
// while the level below was inside an event. A context belongs to a ring for ever; both are handed to a new thread when
// the kernel says that the old one is gone (destructors that run after ours would still allocate, so there is no
// clean-up at thread exit), or when a thread comes whose thread-local storage has the address of the old one's.
//
// A thread that may be under a filter of system calls gets one of the contexts that were prepared before the filter was
// there, without a lock, as it cannot block its signals.
//
// Guarantees
//  - begin_event gives a context that nothing else uses until end_event, or nullptr: then the event is not recorded,
//    and it has been counted if it should have been.
//  - An event that was left half way (siglongjmp out of a handler, a thread that died) is recognised and repaired.
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
inline constexpr uint32_t kMostPushed = 1024;  // ranges of NVTX that a thread has pushed and that are recorded

// Of a thread's operators of PyTorch (agent/torch/operators.cc).
struct OperatorTable;
struct TorchOperators {
  OperatorTable* table;  // those that have begun and not ended; nullptr: there were none yet
  uint32_t next;         // where it has room, as a rule
  bool has_sequence;
  int64_t sequence;  // of the one that is about to begin
};

struct Context {
  uint64_t guard;  // 0, or the stack pointer of the event in progress; ~0 in the shared context
  // The age at which records can be written at once; kNotReady: something has to be done before.
  uint64_t ready_for;
  uint64_t stack_ready_for;  // likewise, of records with a stack; where Python's frames are read, or blocks were
                             // sampled, always kNotReady
  uint64_t base;             // address of the current chunk − chunk_count: the record at count n is at base + n
  uint64_t head;             // next byte to write; header->head follows when a record is published
  uint64_t limit;            // head may grow to here, and a kChunk record still fits; then another chunk is needed
  wire::RingHeader* header;
  UnwindContext* unwind;
  uint64_t stamp_base;   // stamp of the last kTimestamp record
  uint32_t stamp_delta;  // the last record's
  uint32_t until_stamp;  // while single-threaded: records until the next stamp
  uint32_t age;          // what the last kAge record said
  uint32_t reserved;
  // Where blocks are sampled (agent/record/sampling.h):
  uint64_t drawn_interval;  // by which the distance to the next point was drawn; 0: not yet
  uint64_t told_interval;   // what the last kInterval record said
  uint64_t random;          // the last number that it was drawn by
  uint32_t birth;           // of the life in which it was made (g_birth)
  uint32_t thread_id;
  uint32_t ring;
  uint64_t owner;              // whose it is, atomically (context.cc); 0: nobody's yet
  bool is_shared;              // several threads take turns, behind `lock`
  bool is_stalled;             // the collector made no progress for too long: drop until it does
  bool needs_open;             // the records that open the ring for its owner are still to be written (open_ring)
  bool needs_reset;            // those must also say that the previous stack is empty again (kReset)
  std::atomic<uint32_t> lock;  // shared context only: of agent/process/lock.h
  SignalMask signals;          // shared context only: the holder's signal mask
  Context* nested;             // for signal handlers that interrupt an event of this context
  unsigned char* data;         // the ring's
  uint32_t chunk;              // which of it is written to
  uint32_t next_chunk;         // the same, or the one that is being taken
  uint64_t chunk_count;        // where `chunk` begins, as a count of bytes
  uint64_t next_count;         // likewise
  uint64_t pressed_tail;       // the collector stands still here: growing needs no more waiting
  uint64_t launches_told;      // of RingHeader::kernel_launches, the last kLaunches record
  uint32_t scope_count;        // scopes ever begun in this ring
  uint32_t scope_changes;      // grows whenever the owner, having launched something, may be in another scope
  uint64_t* reference_pcs;     // --verify-stacks, --unwinder=libunwind: kMaxFrames; nullptr until used
  PythonStack* python;         // nullptr: the process runs no Python, as far as is known
  TorchOperators operators;
  uint32_t pushed;  // ranges of NVTX that the owner has pushed, those that are not recorded included
  Context* older;   // of another life; behind it the next one (forget_contexts)
  uint64_t pushed_ranges[kMostPushed];  // what they are (agent/nvtx/ranges.cc); not touched where nobody uses NVTX
};

// The next event opens the ring again.
inline void require_opening(Context* context) {
  context->needs_open = true;
  context->ready_for = kNotReady;
  context->stack_ready_for = kNotReady;
}

extern constinit thread_local Context* t_context __attribute__((tls_model("initial-exec")));

// sp: the hook's CFA.
Context* begin_event_slow(uint64_t sp);

// A filter of system calls is coming, or a prepared context was taken: maps contexts for threads that may make none.
// pre: the calling thread is not filtered.
void prepare_contexts();
// Python was found: from now on this context's stacks have its frames, if there is memory for that.
void start_python(Context* context);
void end_shared_event(Context* context);

// The thread's own context if no event of it is in progress; nullptr: begin_event_slow finds out what to do. What it
// gives may be the context of another life: is_ready and is_usable tell. They are asked only now that the guard is set,
// as a handler may have forked before.
inline Context* begin_event_fast(uint64_t sp) {
  Context* context = t_context;
  if (HEAPPROF_UNLIKELY(context == nullptr || context->guard != 0)) return nullptr;
  context->guard = sp;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler from here on sees the guard
  return context;
}

// True if events are recorded, and the context is of this life.
inline bool is_usable(const Context* context) {
  return g_fork_page.age.load(std::memory_order_relaxed) != 0 && context->birth == g_birth;
}

// pre: begin_event_fast gave it
inline void end_event_fast(Context* context) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->guard = 0;
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

// True if the calling thread is inside of an event: then this is a signal handler that interrupted it.
bool is_in_event();
// A forked child that may make no system call: what the interrupted event still writes goes nowhere.
void divert_event();

// A forked child: forgets every context of the parent's life. Their memory stays, as an event that a signal handler
// interrupted by forking will go on in it. pre: the agent's lock is held.
void forget_contexts();
// The same where this process goes on and may have another life: their memory is used again by the threads that have
// it.
// pre: the agent's lock is held, nothing is recorded.
void retire_contexts();
// Whether a thread is inside of an event. Once nothing is recorded, and none is, no event begins.
bool has_events_in_progress();

}  // namespace heapprof::agent
