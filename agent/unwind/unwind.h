// agent/unwind/unwind.h: finds the call stack of a hook's caller, as a difference to the previous stack of the same
// context.
//
// Guarantees
//  - Either a stack is complete, from the hook's caller to the outermost frame, according to the DWARF call frame
//    information; or it is marked as truncated, with the cause. If a signal interrupted a frame, the frame's program
//    counter is the interrupted address + 1 (shared/events.h).
//  - It takes no lock, allocates nothing and leaves errno alone. It makes a system call only when it sees a stack, or a
//    further part of one, for the first time. It never reads memory beyond the end of the stack, whatever the tables
//    say (tests/integration/stacks/wrong_tables.sh).
//  - A signal handler may interrupt a walk: the handler then uses another UnwindContext.
// Not provided: names (cli/symbolize), stacks of other threads.
//
// Context:  inside every hook. Stack use at most 3 KiB on the slow path.
// Cost:     0.3 to 1.2 ns for each frame that is unchanged from the previous stack, 4 to 8 ns for each new frame whose
//           rule is cached; about 1 µs when a program counter is seen for the first time.
#pragma once

#include "agent/arch/arch.h"
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
  uint64_t sp;  // the stack pointer in the frame after its callee has returned; 0: unknown
  [[no_unique_address]] ReturnSlot slot = {};  // held pc_avma

  uint64_t return_avma() const { return slot_avma(slot, sp); }  // of the slot
};

struct StackDelta {
  uint32_t keep;              // outermost frames that are unchanged from the previous stack
  uint32_t fresh;             // new frames
  const Frame* fresh_frames;  // outermost first
  uint32_t truncation;        // 0, or a wire::TruncationCause
};

// Caches and the previous stack of one thread (or of one signal level of a thread).
class UnwindContext;

// The bytes of memory that a context needs. The memory must be zeroed and page aligned; pages are touched only when
// they are used.
uint64_t unwind_context_bytes();
// pre: memory is unwind_context_bytes() of zeroed memory. A context needs no destructor.
UnwindContext* make_unwind_context(void* memory, wire::UnwindCounters* counters);

// Walks from `start`. First drops what has become invalid since the previous call. The delta is valid until the next
// call with the same context. pre: `generation` is the current generation (agent/process/generation.h).
void capture_stack(UnwindContext* context, const StartFrame& start, uint32_t generation, StackDelta* delta);

// Drops what has become invalid up to this generation. The fast path (unwind_fast.h) needs this, because it does
// not check the generation.
void set_generation(UnwindContext* context, uint32_t generation);

// Forgets the previous stack, so that the next delta keeps nothing.
void reset_stack(UnwindContext* context);

// The program counters of the last capture_stack, innermost first; *count frames. (For --verify-stacks.)
const uint64_t* current_stack(UnwindContext* context, uint32_t* count);

// Captures a stack by frame pointers alone. If the chain of frame pointers leads to data, the stack is marked as
// truncated. (For --unwinder=fp.)
void capture_frame_pointers(UnwindContext* context, const StartFrame& start, uint32_t generation, StackDelta* delta);

// Stores a stack that another unwinder found (innermost first, count <= kMaxFrames) as if capture_stack had found it.
// Announces its modules. (For --unwinder=libunwind.)
void replace_stack(UnwindContext* context, const uint64_t* pcs, uint32_t count, uint32_t generation, StackDelta* delta);

// How often the agent saw the loader allocate. After each time, an address that was in no object may be in a new one.
// The loader allocates whenever it adds an object: after it has put the object into its list, and before it runs the
// object's constructors (tests/integration/loader/replaced_code.sh).
extern std::atomic<uint64_t> g_loads;
inline void note_loading() { g_loads.fetch_add(1, std::memory_order_relaxed); }

// Maps the process-wide rule cache. Called at the start of each session, before its first capture_stack. Returns false
// if there is no memory. From then on every module is announced again. pre: everything known before has been
// invalidated.
bool init_unwinder();

// Stacks deeper than this are truncated. At most kMaxFrames; 0 means kMaxFrames, too.
void set_max_frames(uint32_t max_frames);

}  // namespace heapprof::agent
