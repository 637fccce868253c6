// agent/python/interpreter.h: finds CPython in this process, and where it keeps what the agent reads a stack from.
//
// CPython's functions give frames only to a holder of its lock. But a thread's own frames are a chain that only the
// thread itself changes, so any hook of the agent on that thread can read them. agent/python/layout.h says where in
// memory they are.
//
// Guarantees
//  - The only function of CPython that is called is PyGILState_GetThisThreadState, which reads a thread-specific value.
//  - It is not called once its library is unloaded (tests/integration/stacks/python_programs.sh), except by a thread
//    that was about to call it.
//  - An unknown version is reported (Control::python_version), and nothing is read.
// Context:  look_for_python: start-up; g_python: anywhere.
// Order:    (P) thread_state is release-stored after the other fields.
#pragma once

#include "agent/python/layout.h"

#include <stdint.h>

#include <atomic>

namespace heapprof::agent {

struct Python {
  PythonLayout layout;
  uint16_t minor;
  // Returns the calling thread's state; 0: it runs no Python. For a thread in a subinterpreter: the subinterpreter's
  // from 3.12 on, before that the one of the interpreter that the thread began in.
  // nullptr: its library was unloaded.
  std::atomic<uint64_t (*)()> thread_state;
  uint64_t code_type;  // the type of code objects
  uint64_t evaluator_start, evaluator_end;
};

// nullptr: no interpreter, or none whose frame layout is known.
extern std::atomic<const Python*> g_python;

// pre: no dlclose is running in another thread.
void look_for_python();
// Call when an object is first seen; it may be an interpreter. True: it is the first interpreter.
bool note_object_for_python(const char* path);
// Call when objects are being unloaded: forgets an interpreter that is gone. The next one is found like the first.
void forget_unloaded_python();
// What look_for_python found, in the form of Control::python_version.
uint32_t python_version();

}  // namespace heapprof::agent
