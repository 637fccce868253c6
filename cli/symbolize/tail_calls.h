// cli/symbolize/tail_calls.h: the functions between two frames of one module that were left by a jump.
//
// Debuggers show such frames too, and by the same entries: what the outer frame calls, and where each function jumps to
// as its last deed.
//
// Guarantees
//  - Named is what lies on the only path (tail_path.h). Where a function on the way jumps through a pointer, or to one
//    that is not known, or does not say that all its jumps are described, there is no path: then the function that was
//    called is named alone, as it is in no doubt.
//  - A path ends in the inner frame's function or, where that is the allocation itself, in one that heapprof counts,
//    unless the module has one of that name of its own.
// Not provided: ways through other modules. A library's own function that another library replaces (by LD_PRELOAD) is
//           taken for the one that is called.
// Trust:    see die_reader.h; the units that are read for it, and the functions looked at for one path, are bounded.
// Cost:     each unit that has a function on the way is walked once; nothing without a pair.
#pragma once

#include "cli/model/profile/symbols.h"
#include "cli/symbolize/debug_file.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace heapprof::cli {

struct LeftFunction {
  uint64_t svma;  // inside the jump, or the function's entry where there are several
  bool is_entry;
};
using LeftFunctions = std::map<CallPair, std::vector<LeftFunction>>;  // outermost first

// Those pairs whose call is known. dwarf: the file's; address in it = svma − bias.
LeftFunctions find_left_functions(const DebugFile& file, Dwarf* dwarf, Dwarf_Addr bias,
                                  std::span<const CallPair> pairs);

}  // namespace heapprof::cli
