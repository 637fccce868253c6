// cli/model/profile/symbols.h: the names of a recording's locations, as cli/symbolize finds them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

// One source-level frame. A location has one, or several where functions were inlined: innermost first.
struct SourceFrame {
  std::string function;  // demangled; empty: unknown
  std::string file;      // made absolute with its compilation directory, without . and .. parts; empty: unknown
  uint32_t line = 0;     // 0: unknown
  bool inlined = false;  // this frame was inlined into the next one

  bool operator==(const SourceFrame&) const = default;
};

// What debug information says of the call at a location, as numbers. Within a module, of one run or several, equal
// numbers mean the same function. 0: unknown.
struct CallKeys {
  static constexpr uint64_t kAllocator = 1;  // malloc, operator new and the like

  uint64_t function = 0;  // that contains the location: the outermost one, into which others may be inlined
  uint64_t target = 0;    // that is called there

  bool operator==(const CallKeys&) const = default;
};

// Two neighbouring frames in a stack; both of one module, except for a frame of operator new.
struct CallPair {
  uint32_t module = 0;
  uint64_t outer_svma = 0;  // return addresses, as in Location
  uint64_t inner_svma = 0;  // 0: the allocation itself, whose frame is in no stack, or is of operator new

  auto operator<=>(const CallPair&) const = default;
};

// A function on the path from the outer frame to the inner one, whose frame was elided by a tail call.
struct InferredCall {
  uint64_t svma = 0;  // as in Location: after the jump; for several jumps to one function: after the function's entry
  std::vector<SourceFrame> frames;  // innermost first; more than one where the jump is in an inlined function

  bool operator==(const InferredCall&) const = default;
};
using InferredPath = std::vector<InferredCall>;  // outermost first; empty: no path, or not a unique one
using InferredCalls = std::map<CallPair, InferredPath>;

// frames[i] belongs to Recording::locations[i]; empty: only module and address are known.
struct SymbolTable {
  std::vector<std::vector<SourceFrame>> frames;
  std::vector<CallKeys> calls;  // likewise; may be empty
  InferredCalls inferred;       // of the pairs that were asked for; may lack those without a result
};

}  // namespace heapprof::cli
