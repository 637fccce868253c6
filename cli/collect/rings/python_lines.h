// cli/collect/rings/python_lines.h: finds the line and the Python function of a frame.
//
// A frame names an instruction of a code object (shared/python.h). Instructions of one line look the same to a reader,
// and so do code objects of one function (those of a lambda, or that exec() makes again). If each were a location of
// its own, the call tree would have as many nodes and sites for one line, which would have to be merged at the end. So
// the line is looked up when an instruction is first seen.
//
// Guarantees
//  - Two frames have the same answer if, and only if, they have the same line, function and file; or are the same
//    frame.
// Trust:    code objects are the target's, and may change at any moment: each is copied once, then checked.
// Cost:     a microsecond for a new instruction, some more if it comes before the previous one in its code object;
//           nothing after that (ModuleMap keeps the answer).
#pragma once

#include "cli/model/profile/python_code.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace heapprof::cli {

// False: there is no valid code object of that number. codes: wire::kCodesBytes of the arena
bool read_code(const unsigned char* codes, uint32_t number, PythonCode* code);

class PythonLines {
 public:
  // Where the arena's code objects are; nullptr: they cannot be mapped.
  using Codes = std::function<const unsigned char*()>;
  explicit PythonLines(Codes codes) : codes_(std::move(codes)) {}

  // The frame (Location::svma) that represents this one's line: the first of that line that was looked up.
  uint64_t first_of_line(uint64_t frame);

 private:
  struct Known {
    PythonCode code;
    uint32_t function;  // of functions_
    LineCursor cursor;
  };

  Known* code_of(uint32_t number);

  Codes codes_;
  std::unordered_map<uint32_t, std::optional<Known>> known_;  // by number
  std::unordered_map<std::string, uint32_t> functions_;       // by file and name
  std::unordered_map<uint64_t, uint64_t> lines_;              // the first frame, by function and line
};

}  // namespace heapprof::cli
