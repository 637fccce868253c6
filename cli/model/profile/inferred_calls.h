// cli/model/profile/inferred_calls.h: puts frames elided by tail calls back into stacks, where they are certain.
//
// A compiler turns a function's last call into a jump (a tail call), so that the function is missing from the stack:
// its caller seems to have called another function. The caller's debug information names the function that it does
// call. If that is not the next one in the stack, the symbolizer is asked for the path between the two
// (cli/symbolize/tail_calls.h).
//
// Guarantees
//  - An inserted frame is marked: Frame::inferred.
//  - Without an answer of the symbolizer nothing changes; numbers never change.
// Context:  for a recording, after its names were found; for a profile, see name_frames.h.
// Cost:     about 30 ns a stack node for the pairs, 10 ns for the comparison; where something was found, a look-up for
//           each node below it.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// A location with what is known of it.
struct NamedLocation {
  const Location& location;
  const CallKeys& keys;
  const std::vector<SourceFrame>& frames;
};

// Whether the symbolizer has to be asked about a pair: the inner frame's function is not the one that the outer frame
// calls. Compilers have several names for one function, so the symbolizer decides.
bool is_open_call(const CallKeys& outer, const CallKeys& inner);
// The same where the allocation itself is the inner frame.
bool is_open_call(const CallKeys& innermost);

// The pair of two neighbours in a stack, or of a site's innermost frame and its allocation, if it is open.
std::optional<CallPair> open_call(const NamedLocation& outer, const NamedLocation& inner);
std::optional<CallPair> open_call(const NamedLocation& innermost);

// The pairs of a recording's stacks, sorted, before anything is known of them: all that may be open.
std::vector<CallPair> find_neighbours(const Recording& recording);
// Whether the module has the C++ runtime's operator new.
bool is_cpp_runtime(const std::string& path);

// Inserts what was found (SymbolTable::inferred) into the stacks, as new locations after all others, with their names.
// The nodes below them are copied; no site uses the old ones any more.
void add_inferred_calls(Recording* recording, SymbolTable* symbols);

}  // namespace heapprof::cli
