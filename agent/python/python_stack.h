// agent/python/python_stack.h: the calling thread's Python frames, each after the native frame of the evaluator that
// runs it.
//
// Guarantees
//  - The chain of frames is that of the event: every frame of it is checked each time, and nothing of the interpreter
//    is hooked (tests/integration/stacks/python_oracle.sh).
//  - If a chain is half built or damaged, the stack ends there, and is counted (Control::python_broken).
//  - The C stack determines a frame's position: an evaluator's call has a mark of its own on it (3.10 and later).
//    Before 3.10, and if the native stack has no stack pointers, frames and calls of the evaluator are paired,
//    innermost first; the remaining Python frames are put together.
// Context:  inside hooks, after the capture of the native stack. No allocation, no lock, no errno; system calls only
//           when a page is first seen.
// Cost:     some 4 ns an unchanged frame, 40 ns for a changed line and each frame further in that is written again.
#pragma once

#include "agent/python/interpreter.h"
#include "agent/unwind/unwind.h"

#include <cstdint>

namespace heapprof::agent {

// The previous stack and workspace of one context (agent/record/context.h).
class PythonStack;

uint64_t python_stack_bytes();
// pre: memory is python_stack_bytes() of zeroed memory.
PythonStack* make_python_stack(void* memory);

// Puts the Python frames of this thread among the native ones. delta: in: that of the native stack just captured; out:
// that of both, valid until the next call.
void add_python_frames(PythonStack* stack, UnwindContext* unwind, StackDelta* delta);

}  // namespace heapprof::agent
