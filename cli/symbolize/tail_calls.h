// cli/symbolize/tail_calls.h: the functions between two frames of one module whose frames were elided by tail calls.
//
// Debuggers show such frames too, from the same entries: the function that the outer frame calls, and the tail calls of
// each function.
//
// Guarantees
//  - It names the functions on the only path (tail_path.h). There is no path if a function on the way jumps through a
//    pointer, or to an unknown function, or does not state that all its jumps are described. Then only the called
//    function is named, because it is certain.
//  - A path ends in the inner frame's function. If the inner frame is the allocation itself, the path ends in an
//    allocating function whose calls heapprof counts, unless the module has its own function of that name.
// Not provided: paths through other modules. If another library replaces a library's own function (by LD_PRELOAD), the
//           library's own is taken for the called one.
// Trust:    see die_reader.h; the number of units read, and of functions considered for one path, is bounded.
// Cost:     each unit with a function on the way is walked once; nothing without a pair.
#pragma once

#include "cli/model/profile/symbols.h"
#include "cli/symbolize/debug_file.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace heapprof::cli {

struct LeftFunction {
  uint64_t svma;  // inside the jump, or the function's entry if it has several jumps to the next function
  bool is_entry;
};
using LeftFunctions = std::map<CallPair, std::vector<LeftFunction>>;  // outermost first

// The elided functions of each pair whose called function is known. dwarf: that of the file, whose addresses are
// svma − bias.
LeftFunctions find_left_functions(const DebugFile& file, Dwarf* dwarf, Dwarf_Addr bias,
                                  std::span<const CallPair> pairs);

}  // namespace heapprof::cli
