// shared/python.h: frames of Python in a stack, and the code objects that they run.
//
// A Python frame is in a record's stack after (further in than) the native frame of the evaluator that runs it. Its
// highest bit is set, which no program counter has. The frame holds no names and no line table: these are written once
// for each code object, in a separate part of the arena.
#pragma once

#include "shared/wire.h"

#include <atomic>
#include <cstdint>

namespace heapprof::wire {

// frame = 1:1 (63) | number of a code object:31 (62…32) | offset of the instruction, bytes:32 (31…0)
inline constexpr uint64_t kPythonFrame = uint64_t{1} << 63;

constexpr bool is_python_frame(uint64_t word) { return (word & kPythonFrame) != 0; }
constexpr uint64_t pack_python_frame(uint32_t code, uint32_t offset_bytes) {
  return kPythonFrame | static_cast<uint64_t>(code) << 32 | offset_bytes;
}
constexpr uint32_t python_code(uint64_t word) { return static_cast<uint32_t>(word >> 32) & 0x7fffffff; }
constexpr uint32_t python_offset(uint64_t word) { return static_cast<uint32_t>(word); }

// The description of a code object; its file, its function and its line table follow.
struct CodeEntry {
  uint32_t first_line;
  uint16_t minor;  // minor version of Python 3; it decides the format of the line table
  uint16_t file_bytes;
  uint16_t function_bytes;
  uint16_t reserved;
  uint32_t table_bytes;
};
static_assert(sizeof(CodeEntry) == 16);

inline constexpr uint32_t kMostCodeNameBytes = 512;  // most bytes of a file's or a function's name
inline constexpr uint32_t kMostCodeTableBytes = 256u << 10;

// Where an entry lies in the texts: offset:32 (63…32) | bytes:32 (31…0); 0: that number has no description.
constexpr uint64_t pack_code_at(uint32_t offset, uint32_t bytes) { return static_cast<uint64_t>(offset) << 32 | bytes; }

}  // namespace heapprof::wire
