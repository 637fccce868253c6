// cli/model/profile/symbols.h: the names of a recording's locations, as cli/symbolize finds them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

// One source-level frame. A location has one frame, or several, innermost first, if functions were inlined there.
struct SourceFrame {
  std::string function;  // demangled; empty: unknown
  std::string file;      // made absolute with its compilation directory, without . and .. parts; empty: unknown
  uint32_t line = 0;     // 0: unknown
  bool inlined = false;  // this frame was inlined into the next one

  bool operator==(const SourceFrame&) const = default;
};

// The functions of a call at a location, by debug information, as numbers. Within a module, in one run or several,
// equal numbers mean the same function. 0: unknown.
struct CallKeys {
  static constexpr uint64_t kAllocator = 1;  // malloc, operator new and the like

  uint64_t function = 0;  // that contains the location; the outermost one if functions were inlined
  uint64_t target = 0;    // the function that is called there

  bool operator==(const CallKeys&) const = default;
};

// Two neighbouring frames in a stack; both are of one module, unless the inner one is a frame of operator new.
struct CallPair {
  uint32_t module = 0;
  uint64_t outer_svma = 0;  // return addresses, as in Location
  uint64_t inner_svma = 0;  // 0: the allocation itself, which has no frame, or one of operator new

  auto operator<=>(const CallPair&) const = default;
};

// A function on the path from the outer frame of a pair to the inner one. A tail call elided its frame.
struct InferredCall {
  uint64_t svma = 0;  // as in Location: after the jump; if there are several such jumps, after the function's entry
  std::vector<SourceFrame> frames;  // innermost first; several if the jump is in an inlined function

  bool operator==(const InferredCall&) const = default;
};
using InferredPath = std::vector<InferredCall>;  // outermost first; empty: no path, or several
using InferredCalls = std::map<CallPair, InferredPath>;

// frames[i] belongs to Recording::locations[i]; empty: only module and address are known.
struct SymbolTable {
  std::vector<std::vector<SourceFrame>> frames;
  std::vector<CallKeys> calls;  // by location, like frames; may be empty
  InferredCalls inferred;       // of the requested pairs; pairs without a result may be missing
};

}  // namespace heapprof::cli
