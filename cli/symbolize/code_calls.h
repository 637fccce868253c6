// cli/symbolize/code_calls.h: the target of the call before a return address, decoded from the code itself.
//
// Debug information may lack it: rustc and clang leave out calls, and many programs have no debug information.
//
// Guarantees
//  - Only a direct call has a target. It has none if the bytes may also be the end of a call through a pointer.
// Not provided: a check that the target is a function (the caller looks it up in the symbols); files for another
//           processor than the tool's.
// Trust:    the file is untrusted: nothing is read beyond a section that lies in it.
#pragma once

#include "cli/symbolize/debug_file.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapprof::cli {

class CodeCalls {
 public:
  explicit CodeCalls(const DebugFile& file);

  // The target's svma; 0: no direct call was decoded.
  uint64_t target(uint64_t return_svma) const;

 private:
  struct Section {
    AddressRange range;  // svma
    std::span<const uint8_t> bytes;
  };
  std::vector<Section> sections_;
};

}  // namespace heapprof::cli
