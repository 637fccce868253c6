// cli/symbolize/tail_path.h: the one way by jumps from the function that was called to the one that was found.
//
// Guarantees
//  - A path is the only one: of every function that can be reached it is known where it jumps to, and no other way, and
//    no way round, leads to the end. The end itself may jump where it wants, but not back to itself.
//  - Else there is none.
// Context:  pure; no recursion.
// Cost:     grows with the functions that can be reached and their jumps; no more than most_functions and the end are
//           looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace heapprof::cli {

// Where a function jumps to.
struct Jumps {
  bool are_known = false;         // all of them
  std::vector<uint64_t> targets;  // functions; several jumps to one count as one
};

// The functions from `first` to the one that jumps to `end`. Empty: there is no path, more than one, or the functions
// are the same.
std::vector<uint64_t> find_only_path(uint64_t first, uint64_t end,
                                     const std::function<const Jumps&(uint64_t)>& jumps_of, size_t most_functions);

}  // namespace heapprof::cli
