// agent/python/python_stack.h: the calling thread's Python frames, each behind the native frame of the evaluator that
// runs it.
//
// Guarantees
//  - The chain of frames is as it is at the event: each frame of it is looked at every time, and nothing of the
//    interpreter's is hooked (tests/integration/stacks/python_oracle.sh).
//  - What is no frame (a chain that is half built, or damaged) is not read: the stack ends there, and is counted
//    (Control::python_broken).
//  - A frame stands where the C stack says: an evaluator's call has a mark of its own on it (3.10 and later). Before
//    3.10, and where the native stack has no stack pointers, frames and calls of the evaluator are paired from the
//    innermost on; Python frames that remain stand together.
// Context:  inside hooks, behind the capture of the native stack. No allocation, no lock, no errno; system calls at the
//           first sight of a page alone.
// Cost:     some 4 ns a frame that is as it was, 40 ns for a changed line and what is written anew inside of it.
#pragma once

#include "agent/python/interpreter.h"
#include "agent/unwind/unwind.h"

#include <cstdint>

namespace heapprof::agent {

// Of one context (agent/record/context.h): the previous stack, and workspace.
class PythonStack;

uint64_t python_stack_bytes();
// pre: memory is python_stack_bytes() of zeroed memory.
PythonStack* make_python_stack(void* memory);

// Puts the Python frames of this thread among the native ones. delta: of the native stack, as it was just captured;
// then of both, valid until the next call.
void add_python_frames(PythonStack* stack, UnwindContext* unwind, StackDelta* delta);

}  // namespace heapprof::agent
