// cli/model/profile/python_code.h: code objects of Python, as the agent reports them, and the lines of their
// instructions.
//
// Source of the formats: CPython's Objects/lnotab_notes.txt (to 3.9, and 3.10) and Objects/locations.md (3.11 and
// later).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace heapprof::cli {

struct PythonCode {
  std::string file;
  std::string function;  // qualified from 3.11 on
  uint32_t first_line = 0;
  uint16_t minor = 0;  // N in Python 3.N
  std::string table;   // bytes
};

using PythonCodes = std::map<uint32_t, PythonCode>;  // by code object number, from 1

// Whether a location without a module is a frame of Python, by its Location::svma (as in shared/python.h).
constexpr bool is_python_frame(uint64_t svma) { return svma >> 63 != 0; }
constexpr uint32_t python_code_number(uint64_t svma) { return static_cast<uint32_t>(svma >> 32) & 0x7fffffff; }
constexpr uint32_t python_offset_bytes(uint64_t svma) { return static_cast<uint32_t>(svma); }

inline constexpr char kPythonModule[] = "[Python]";  // the path of the module of Python frames, once they have names

inline constexpr char kUnknownPython[] = "(Python)";  // the function of a frame whose code object is not known

// How far a line table was read, so that a look-up of a later offset continues from there. The table of a module's code
// has thousands of entries and as many look-ups.
struct LineCursor {
  size_t at = 0;       // position of the next entry in the table
  uint64_t begin = 0;  // offset of that entry's first instruction
  int64_t lines = 0;   // lines that the entries before it added
};

// The line of the instruction at that offset in bytes; the code's first line if the table has no valid line.
// cursor: must be used only for this code
uint32_t line_of(const PythonCode& code, uint32_t offset_bytes, LineCursor* cursor);
uint32_t line_of(const PythonCode& code, uint32_t offset_bytes);

}  // namespace heapprof::cli
