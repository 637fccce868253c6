// agent/python/layout.h: where in memory CPython keeps what the agent reads a stack from.
//
// Versions 3.8 to 3.12 each have a table here, from their headers on x86-64. From 3.13 on the interpreter publishes its
// offsets (_Py_DebugOffsets, at the start of _PyRuntime), in an order that a version may change; the orders of 3.13 to
// 3.15 are known.
//
// Guarantees
//  - Offsets that an interpreter publishes are used only if they are plausible: within a page, aligned, in the order of
//    the structures (tests/unit/agent_python).
// Trust:  the words are the interpreter's, and may be anything.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

inline constexpr uint16_t kNoField = 0xffff;

// What one call of the evaluator's C function runs. kEachFrame: one frame. kFlag: a frame that has a flag, and all that
// it calls. kShim: all frames up to one that is on the C stack itself (a shim).
enum class PythonEntry : uint8_t { kEachFrame, kFlag, kShim };

// Offsets in bytes; kNoField: no such field.
struct PythonLayout {
  PythonEntry entry = PythonEntry::kShim;
  uint8_t instruction_scale = 0;       // bytes of code per unit of frame_instruction, if that is an index; 0: address
  uint16_t thread_top = kNoField;      // in a thread's state: its innermost frame
  uint16_t thread_c_frame = kNoField;  // in a thread's state: the record of the evaluator's last call, on the C stack
  uint16_t c_frame_top = kNoField;     // in that record: its innermost frame, instead of thread_top
  uint16_t c_frame_previous = 8;       // in that record: the record of the evaluator's previous call
  uint16_t frame_previous, frame_code, frame_instruction;
  uint16_t frame_bytes;  // how much of a frame is read
  uint16_t frame_owner = kNoField;
  uint16_t frame_is_entry = kNoField;
  uint16_t frame_copy = kNoField;  // which copy of the code the frame runs (free-threaded builds)
  uint16_t object_type = 8;
  uint16_t code_file, code_function, code_first_line, code_table;
  uint16_t code_start = kNoField;
  uint16_t code_copies = kNoField;  // an array: its length, then where each copy starts
  uint16_t bytes_size = 16, bytes_data = 32;
  uint16_t text_length = 16, text_state = 32, ascii_data, wide_data;
  uint8_t text_kind_shift = 2;  // in a text's state: where the bits kind:3 compact:1 ascii:1 begin
};

// nullptr: no table for that version.
const PythonLayout* layout_of_version(uint16_t minor);

inline constexpr size_t kOffsetWords = 94;  // how many words of _PyRuntime are read
// False: the words are of another version, in an unknown order, or implausible.
bool read_layout(const uint64_t (&words)[kOffsetWords], uint16_t minor, PythonLayout* layout);

}  // namespace heapprof::agent
