// agent/hooks/inner.h: hooks an allocator that is linked into the executable, by patching its code.
//
// Calls of such functions are bound when the program is linked, so no symbol table can redirect them. Instead, a jump
// to a hook replaces the first instructions of each function (its prologue). These instructions are relocated: they run
// elsewhere, before the rest of the function. The heapprof command has made the plan (cli/inner, shared/inner.h).
//
// Guarantees
//  - All functions of the plan are hooked, or none is (tests/integration/malloc/inner_allocators.sh). Nothing is
//    written before everything is known to be possible: the code is what the plan expects, there is one thread, memory
//    near the code is available, and pages of code may be written to.
//  - A block counts once. While a function of the allocator is in progress, calls that the allocator's own code makes
//    of its own functions are forwarded, unrecorded. These are direct calls, tail calls, and calls by a register, a
//    slot (GOT) or the PLT; also calls among the first instructions, which the jump replaces. A handler that the
//    allocator calls belongs to the program: what it allocates counts (tests/integration/malloc/inner_entries.sh).
//  - If an allocator inside the executable gets an aligned block from libc through the agent's hook, the block is
//    recorded as the allocator's. If functions get their blocks from a malloc that is hooked anyway, they are not
//    patched: the blocks are recorded in malloc's hook.
//  - A function finds all registers as its caller left them, and the caller then finds them as the function left them.
//    This matters because compilers know which registers a function of the same file does not change
//    (tests/integration/malloc/inner_registers.sh).
//  - A name proves nothing: in a copy of the process, the functions have to behave like an allocator's, first unhooked
//    and then hooked (allocator_evidence.h). If they do not, they are not patched, and heapprof names them. A size that
//    no block can have is never counted (tests/integration/malloc/inner_names.sh).
//  - Pages of code get their former protection back.
// Not provided: libraries; a process that runs already (attach). Some calls of the allocator of itself count twice:
//               calls through a table of functions (call *8(%rax)), calls from code that is reached by pointers alone,
//               and calls of an exported hook by a register.
// Context:  the plan is carried out at the start, before anything is recorded, on the one thread of the program.
// Cost:     that of malloc's hook, plus a jump and the checks at run time: tests/bench/runs/2026-11-26-inner.md.
#pragma once

#include "agent/arch/arch.h"
#include "agent/hooks/ended_heap.h"
#include "agent/process/loaded_object.h"
#include "shared/inner.h"

#include <cstdint>

namespace heapprof::agent {

// Carries out the plan, and stores the outcome in the control page. pre: an arena is mapped; signals are blocked; this
// thread is marked kThreadStarting.
void hook_inner_allocators();

// True if an allocator inside the executable is hooked.
bool has_inner_allocator();
// True if the allocator's code called the exported hook that has this frame, while one of the allocator's functions was
// in progress.
bool is_call_of_inner(HookFrame hook_frame);
// True if the address lies in the allocator's code.
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
