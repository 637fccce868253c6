// agent/python/interpreter.h: finds CPython in this process, and where it keeps what a stack is read from.
//
// CPython says nothing of its frames to who has not its lock. But a thread's own frames are a chain that only the
// thread itself changes, so they can be read wherever the thread is in one of our hooks. Where in memory they are,
// agent/python/layout.h tells.
//
// Guarantees
//  - No function of CPython is called but PyGILState_GetThisThreadState, which reads a thread-specific value.
//  - It is not called once its library is unloaded (tests/integration/stacks/python_programs.sh), but for a thread that
//    was on its way there.
//  - A version that is not known is said to be so (Control::python_version), and nothing is read.
// Context:  look_for_python: start-up; g_python: anywhere.
// Order:    (P) thread_state is release-stored behind what belongs to it.
#pragma once

#include "agent/python/layout.h"

#include <stdint.h>

#include <atomic>

namespace heapprof::agent {

struct Python {
  PythonLayout layout;
  uint16_t minor;
  // Of the calling thread; 0: it runs no Python. Of a thread that is in a subinterpreter it is that one's from 3.12 on,
  // and before, that of the interpreter that the thread began in.
  // nullptr: its library was unloaded.
  std::atomic<uint64_t (*)()> thread_state;
  uint64_t code_type;  // what a code object's type is
  uint64_t evaluator_start, evaluator_end;
};

// nullptr: there is none, or none whose frames are known.
extern std::atomic<const Python*> g_python;

// pre: no dlclose is running in another thread.
void look_for_python();
// An object was seen for the first time, which may be an interpreter. True: it is the first.
bool note_object_for_python(const char* path);
// Objects are being unloaded: forgets an interpreter that is gone. The next one is found as the first one was.
void forget_unloaded_python();
// What look_for_python found, as Control::python_version says it.
uint32_t python_version();

}  // namespace heapprof::agent
