// cli/symbolize/tail_path.h: the only path of tail calls from the called function to the one in the stack.
//
// Guarantees
//  - A path is unique: the jumps of every reachable function are known, and no other path, and no cycle, leads to the
//    end. The end itself may jump anywhere, but not back to itself.
//  - Otherwise there is no path.
// Context:  pure; no recursion.
// Cost:     grows with the reachable functions and their jumps; at most most_functions and the end are visited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace heapprof::cli {

// Where a function jumps to.
struct Jumps {
  bool are_known = false;         // `targets` has all of them
  std::vector<uint64_t> targets;  // functions; several jumps to one count as one
};

// The functions from `first` to the one that jumps to `end`. Empty: no path, more than one, or the functions are the
// same.
std::vector<uint64_t> find_only_path(uint64_t first, uint64_t end,
                                     const std::function<const Jumps&(uint64_t)>& jumps_of, size_t most_functions);

}  // namespace heapprof::cli
