// agent/unwind/unwind.h: the call stack of a hook's caller, as a difference to the previous stack of the same context.
//
// Guarantees
//  - A stack is complete, from the hook's caller to the outermost frame, as the DWARF call frame information says, or
//    it is marked as truncated, with the cause. A frame that a signal interrupted has its address + 1
//    (shared/events.h).
//  - No lock, no allocation, no errno; a system call only when a stack, or more of it, is first seen. Memory
//    beyond the end of the stack is not read, whatever the tables say (tests/integration/stacks/wrong_tables.sh).
//  - A signal handler may interrupt a walk: it then uses another UnwindContext.
// Not provided: names (cli/symbolize), stacks of other threads.
//
// Context:  inside every hook. Stack use at most 3 KiB on the slow path.
// Cost:     0.3 to 1.2 ns a frame that is unchanged from the previous stack, 4 to 8 ns a new one with a warm rule;
//           about 1 µs when a program counter is first seen.
#pragma once

#include "shared/wire.h"

#include <atomic>
#include <cstdint>

namespace heapprof::agent {

inline constexpr uint32_t kMaxFrames = 32768;  // deeper stacks are truncated

// Where a walk starts: the state of a hook's caller as it will be when the hook has returned.
struct StartFrame {
  uint64_t pc_avma;  // the return address
  uint64_t sp;       // the stack pointer after the return: the hook's CFA
  uint64_t bp;       // the caller's frame pointer, saved by the hook's prologue
};

struct Frame {
  uint64_t pc_avma;
  uint64_t sp;  // in the frame, after its callee has returned: the word below held pc_avma. 0: unknown
};

struct StackDelta {
  uint32_t keep;              // outermost frames that are unchanged from the previous stack
  uint32_t fresh;             // new frames
  const Frame* fresh_frames;  // outermost first
  uint32_t truncation;        // 0, or a wire::TruncationCause
};

// Caches and the previous stack of one thread (or of one signal level of a thread).
class UnwindContext;

// Bytes of memory that a context needs: zeroed, page aligned, touched only as it is used.
uint64_t unwind_context_bytes();
// pre: memory is unwind_context_bytes() of zeroed memory. There is nothing to destroy.
UnwindContext* make_unwind_context(void* memory, wire::UnwindCounters* counters);

// Walks from `start`. The delta is valid until the next call with the same context. pre: `age` is the current one
// (agent/process/age.h). Drops what has become invalid since the previous call.
void capture_stack(UnwindContext* context, const StartFrame& start, uint32_t age, StackDelta* delta);

// Drops what has become invalid up to this generation (age), for the fast path (unwind_fast.h), which does not check.
void set_age(UnwindContext* context, uint32_t age);

// Forgets the previous stack, so that the next delta keeps nothing.
void reset_stack(UnwindContext* context);

// The program counters of the last capture_stack, innermost first; *count frames. (For --verify-stacks.)
const uint64_t* current_stack(UnwindContext* context, uint32_t* count);

// Captures a stack by frame pointers alone; it is marked as truncated where they end in data. (For --unwinder=fp.)
void capture_frame_pointers(UnwindContext* context, const StartFrame& start, uint32_t age, StackDelta* delta);

// Takes over a stack from another unwinder (innermost first, count <= kMaxFrames) as if capture_stack had found it.
// Announces its modules. (For --unwinder=libunwind.)
void replace_stack(UnwindContext* context, const uint64_t* pcs, uint32_t count, uint32_t age, StackDelta* delta);

// How often the loader was seen allocating: an address that no object held may be in one since. The loader allocates
// whenever it adds an object, after it has put it into its list and before it runs its constructors
// (tests/integration/loader/replaced_code.sh).
extern std::atomic<uint64_t> g_loads;
inline void note_loading() { g_loads.fetch_add(1, std::memory_order_relaxed); }

// At the start of each session, before its first capture_stack: maps the process-wide rule cache. Returns false if
// there is no memory. Every module is announced again from then on. pre: all that was known has been invalidated.
bool init_unwinder();

// Stacks deeper than this are truncated. At most kMaxFrames; 0 means kMaxFrames, too.
void set_max_frames(uint32_t max_frames);

}  // namespace heapprof::agent
