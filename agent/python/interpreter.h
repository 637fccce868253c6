// agent/python/interpreter.h: finds CPython in this process, and where it keeps what a stack is read from.
//
// CPython says nothing of its frames to who has not its lock. But a thread's own frames are a chain that only the
// thread itself changes, so they can be read wherever the thread is in one of our hooks. Where in memory is told by
// tables for 3.8 to 3.12, and by the interpreter itself (_Py_DebugOffsets) for 3.13 and 3.14.
//
// Guarantees
//  - No function of CPython is called but PyGILState_GetThisThreadState, which reads a thread-specific value.
//  - A version that is not known is said to be so (Control::python_version), and nothing is read.
// Context:  look_for_python: start-up; python(): anywhere.
#pragma once

#include <stdint.h>

#include <atomic>

namespace heapprof::agent {

inline constexpr uint16_t kNoField = 0xffff;

// Who calls the evaluator's C function: for each frame one call, or for a frame that says so and all that it calls, or
// for all frames up to one that stands on the C stack itself.
enum class PythonEntry : uint8_t { kEachFrame, kFlag, kShim };

// Offsets, bytes.
struct PythonLayout {
  PythonEntry entry;
  uint8_t instruction_scale;  // bytes of code for one of frame_instruction, where that is an index; 0: it is an address
  uint16_t thread_top;        // in a thread's state: its innermost frame
  uint16_t thread_c_frame;    // likewise: what the evaluator's last call has on the C stack
  uint16_t c_frame_top;       // there: its innermost frame, in place of thread_top
  uint16_t c_frame_previous;  // there: of the evaluator's call before
  uint16_t frame_previous, frame_code, frame_instruction, frame_owner, frame_is_entry;
  uint16_t object_type;
  uint16_t code_file, code_function, code_first_line, code_table, code_start;
  uint16_t bytes_size, bytes_data;
  uint16_t text_length, text_state, ascii_data, wide_data;
};

struct Python {
  PythonLayout layout;
  uint16_t minor;
  uint64_t (*thread_state)();  // of the calling thread; 0: it runs no Python
  uint64_t code_type;          // what a code object's type is
  uint64_t evaluator_start, evaluator_end;
};

// nullptr: there is none, or none whose frames are known.
extern std::atomic<const Python*> g_python;

// pre: no dlclose is running in another thread.
void look_for_python();
// An object was seen for the first time, which may be an interpreter. True: it is the first.
bool note_object_for_python(const char* path);
// What look_for_python found, as Control::python_version says it.
uint32_t python_version();

}  // namespace heapprof::agent
