// cli/collect/rings/python_lines.h: which line of which Python function a frame is at.
//
// A frame says which instruction of which code object it is at (shared/python.h). Instructions of one line read alike,
// and so do code objects of one function (those of a lambda, or that exec() makes again). If each were a location of
// its own, the call tree would have as many nodes and sites for one line, which had to be merged at the end. So the
// line is looked up at the first sight of an instruction.
//
// Guarantees
//  - Two frames have one answer if, and only if, they are of the same line, function and file; or are the same frame.
// Trust:    code objects are the target's, and may change at any moment: each is copied once, then checked.
// Cost:     a microsecond at the first sight of an instruction, some more where it goes back; nothing after that
//           (ModuleMap keeps the answer).
#pragma once

#include "cli/model/profile/python_code.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace heapprof::cli {

// False: there is no sound code object of that number. codes: wire::kCodesBytes of the arena
bool read_code(const unsigned char* codes, uint32_t number, PythonCode* code);

class PythonLines {
 public:
  // Where the arena's code objects are; nullptr: they cannot be mapped.
  using Codes = std::function<const unsigned char*()>;
  explicit PythonLines(Codes codes) : codes_(std::move(codes)) {}

  // The frame (Location::svma) that stands for this one's line: the first of that line that was asked about.
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
