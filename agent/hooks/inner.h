// agent/hooks/inner.h: hooks an allocator inside of the executable, where it stands.
//
// Calls of such functions are bound when the program is linked: no symbol table leads them to us. So the first
// instructions of each are replaced by a jump to a hook, and what they were is executed elsewhere, before the rest of
// the function. The tool has made the plan (cli/inner, shared/inner.h).
//
// Guarantees
//  - All functions of the plan are hooked, or none is (tests/integration/malloc/inner_allocators.sh). Nothing is
//    written before everything is known to be possible: the code is what the plan expects, there is one thread, memory
//    near the code is to be had, and pages of code may be written to.
//  - A block counts once: a call that comes from the allocator's own code, while one of its functions is in progress,
//    is handed on. Functions that ask malloc behind the agent for what they give are left as they are: there it counts.
//  - A function finds all registers as its caller left them, and its caller as the function did: compilers know which
//    registers a function of the same file leaves alone (tests/integration/malloc/inner_registers.sh).
//  - Nothing is believed for its name: in a copy of the process the functions have to behave as an allocator's do, as
//    they are and once more when they are hooked (allocator_evidence.h). Those that do not are left alone, and named.
//    A size that no block can have is never counted (tests/integration/malloc/inner_names.sh).
//  - Pages of code are afterwards protected as before.
// Not provided: libraries, a process that runs already (attach).
// Context:  plan: the start, before anything is recorded; the one thread of the program.
// Cost:     more than a hook of malloc by a jump and by what is told at run time: tests/bench/runs/2026-11-26-inner.md.
#pragma once

#include "agent/hooks/ended_heap.h"
#include "shared/inner.h"

#include <cstdint>

namespace heapprof::agent {

// Carries the plan out, and says in the control page what became of it. pre: an arena is mapped; signals are blocked;
// this thread is marked kThreadStarting.
void hook_inner_allocators();

// True if an allocator is hooked so.
bool has_inner_allocator();
// True if the address lies in its code.
bool is_inner_code(uint64_t pc_avma);

// ---- Between inner_patch.cc, which fills these in, and inner.cc ----

using InnerReal = size_t (*)(size_t, size_t, size_t, size_t, size_t, size_t);

struct InnerSlot {
  InnerReal real;  // the function, past the jump
  wire::AllocatorFunction what;
  uint8_t first;  // where the block, or the size, stands among the parameters
  uint8_t count;  // where the factor of the size stands; kAllocatorParameters: nowhere, and 1 stands there
  uint8_t group;
};
extern InnerSlot g_inner_slots[wire::kMostInnerFunctions];

struct InnerCode {
  HeapFunctions heaps;
  const wire::InnerRange* ranges = nullptr;  // sorted
  uint32_t count = 0;
  uint64_t base_avma = 0;
  uint64_t agent_start_avma = 0;
  uint64_t agent_end_avma = 0;
};
void set_inner_code(const InnerCode& code);

}  // namespace heapprof::agent

// Where thunks lead, with rbp pushed, the function's number in ebp, and the rest as its caller left it.
extern "C" __attribute__((visibility("hidden"))) void heapprof_inner();
