// cli/symbolize/code_calls.h: what the instruction before a return address calls, by the code itself.
//
// Debug information need not say it: rustc and clang leave out calls, and many programs have none.
//
// Guarantees
//  - Only a direct call (E8) has a target. Where the bytes could also be the end of a call through a pointer there is
//    none.
// Not provided: that the target is a function: the caller asks the symbols. x86-64 alone.
// Trust:    the file is a stranger's: nothing is read beyond a section that lies in it.
#pragma once

#include "cli/symbolize/debug_file.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapprof::cli {

// The distance from the end of `code` to what its last instruction calls; 0: that is no direct call.
int64_t direct_call_distance(std::span<const uint8_t> code);

class CodeCalls {
 public:
  explicit CodeCalls(const DebugFile& file);

  // svma; 0: none.
  uint64_t target(uint64_t return_svma) const;

 private:
  struct Section {
    AddressRange range;  // svma
    std::span<const uint8_t> bytes;
  };
  std::vector<Section> sections_;
};

}  // namespace heapprof::cli
