// agent/hooks/inner.h: hooks an allocator inside the executable, in its code.
//
// Calls of such functions are bound when the program is linked: no symbol table redirects them. So the first
// instructions of each function (its prologue) are replaced by a jump to a hook, and relocated: they run elsewhere,
// before the rest of the function. The tool has made the plan (cli/inner, shared/inner.h).
//
// Guarantees
//  - All functions of the plan are hooked, or none is (tests/integration/malloc/inner_allocators.sh). Nothing is
//    written before everything is known to be possible: the code is what the plan expects, there is one thread, memory
//    near the code is available, and pages of code may be written to.
//  - A block counts once. While a function of the allocator is in progress, a call that the allocator's own code makes
//    of its own functions is forwarded, unrecorded. It may be a call, a jump at a function's end, or a call by a
//    register, a slot (GOT) or the PLT, also among the first instructions, which the jump replaces. A handler that the
//    allocator calls is the program: what it allocates counts (tests/integration/malloc/inner_entries.sh).
//  - Where a malloc inside the executable takes an aligned block from libc through the agent's hook, the block counts
//    as what the allocator gives. Functions that ask malloc behind the agent are left as they are: there it counts.
//  - A function finds all registers as its caller left them, and its caller as the function did: compilers know which
//    registers a function of the same file leaves alone (tests/integration/malloc/inner_registers.sh).
//  - A name proves nothing: in a copy of the process the functions have to behave like an allocator's, unhooked and
//    once more hooked (allocator_evidence.h). Those that do not are left alone, and named. A size that no block can
//    have is never counted (tests/integration/malloc/inner_names.sh).
//  - Pages of code are afterwards protected as before.
// Not provided: libraries, a process that runs already (attach). The allocator's calls of itself through a table of
//               functions (call *8(%rax)), from code that it reaches by pointers alone, and of an exported hook by a
//               register: they count twice.
// Context:  plan: the start, before anything is recorded; the one thread of the program.
// Cost:     more than a hook of malloc by a jump and by what is determined at run time:
//           tests/bench/runs/2026-11-26-inner.md.
#pragma once

#include "agent/arch/arch.h"
#include "agent/hooks/ended_heap.h"
#include "agent/process/loaded_object.h"
#include "shared/inner.h"

#include <cstdint>

namespace heapprof::agent {

// Carries the plan out, and says in the control page what became of it. pre: an arena is mapped; signals are blocked;
// this thread is marked kThreadStarting.
void hook_inner_allocators();

// True if an allocator is hooked so.
bool has_inner_allocator();
// True if the code of such an allocator, while one of its functions is in progress, called the exported hook that has
// this frame.
bool is_call_of_inner(const uint64_t* hook_frame);
// True if the address lies in its code.
bool is_inner_code(uint64_t pc_avma);

// ---- Between inner_patch.cc, which fills these in, and inner.cc ----

using InnerReal = size_t (*)(size_t, size_t, size_t, size_t, size_t, size_t);

struct InnerSlot {
  InnerReal real;  // the function, past the jump
  wire::AllocatorFunction what;
  uint8_t first;  // which parameter is the block, or the size
  uint8_t count;  // which parameter is the factor of the size; kAllocatorParameters: none, the factor is 1
  uint8_t group;
};
extern InnerSlot g_inner_slots[wire::kMostInnerFunctions];

// A call that was among the first instructions of a function: a jump has taken its place.
struct InnerMovedCall {
  uint64_t return_avma;
  unsigned char code[kCallBytes];  // that were before return_avma
};

struct InnerCode {
  HeapFunctions heaps;
  const wire::InnerRange* ranges = nullptr;  // sorted
  uint32_t count = 0;
  uint64_t base_avma = 0;
  const InnerMovedCall* moved_calls = nullptr;  // sorted
  uint32_t moved_call_count = 0;
  ProgramHeaders headers;  // of the executable
  uint64_t bias = 0;
  uint64_t agent_start_avma = 0;
  uint64_t agent_end_avma = 0;
};
void set_inner_code(const InnerCode& code);

}  // namespace heapprof::agent
