// cli/model/profile/inferred_calls.h: puts frames that tail calls elided back into stacks, if they are certain.
//
// A compiler turns a function's last call into a jump (a tail call). Then the function is missing from the stack, and
// its caller seems to have called another function. The caller's debug information names the function that it really
// calls. If that is not the next function in the stack, the symbolizer is asked for the path between the two
// (cli/symbolize/tail_calls.h).
//
// Guarantees
//  - An inserted frame is marked: Frame::inferred.
//  - If the symbolizer finds no path, the stack does not change. Numbers never change.
// Context:  for a recording, after its names were found; for a profile, see name_frames.h.
// Cost:     for each stack node about 30 ns to find pairs and 10 ns to compare; for each node further in than an
//           inserted frame, one look-up.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// A location and its symbols.
struct NamedLocation {
  const Location& location;
  const CallKeys& keys;
  const std::vector<SourceFrame>& frames;
};

// Whether a pair is open, so that the symbolizer has to be asked about it: the inner frame's function is not the one
// that the outer frame calls. The symbolizer decides, because compilers have several names for one function.
bool is_open_call(const CallKeys& outer, const CallKeys& inner);
// The same, with the allocation itself as the inner frame.
bool is_open_call(const CallKeys& innermost);

// Returns the pair of two neighbours in a stack, or of a site's innermost frame and its allocation. Returns nullopt if
// the pair is not open.
std::optional<CallPair> open_call(const NamedLocation& outer, const NamedLocation& inner);
std::optional<CallPair> open_call(const NamedLocation& innermost);

// All pairs of neighbours in a recording's stacks that may be open, sorted. It is called before symbols are known.
std::vector<CallPair> find_neighbours(const Recording& recording);
// Whether the module has the C++ runtime's operator new.
bool is_cpp_runtime(const std::string& path);

// Inserts the paths that were found (SymbolTable::inferred) into the stacks. Their frames become new locations after
// all others, with names. The nodes further in are copied, and sites refer to the copies.
void add_inferred_calls(Recording* recording, SymbolTable* symbols);

}  // namespace heapprof::cli
