// cli/model/profile/inferred_calls.h: functions that left the stack by a jump, put back where that is certain.
//
// A compiler makes a jump of a call that is a function's last deed, and the function is in no stack: the one that
// called it seems to have called another. What the caller's code does call is in its debug information; where that is
// another function than the one which is next in the stack, the symbolizer is asked for the way between the two
// (cli/symbolize/tail_calls.h).
//
// Guarantees
//  - A frame that is put in is marked: Frame::inferred.
//  - Without an answer of the symbolizer nothing changes; no number does in any case.
// Context:  a recording's, after its names were found; a profile's own in name_frames.h.
// Cost:     some 30 ns a stack node for the pairs, 10 ns for the comparison; where something was found, a look-up for
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

// Whether what is known of a pair leaves something to ask: the inner frame's function is not what the outer one calls.
// Compilers have several names for one function: the symbolizer has the last word.
bool is_open_call(const CallKeys& outer, const CallKeys& inner);
// The same where the allocation itself is next.
bool is_open_call(const CallKeys& innermost);

// The pair of two neighbours in a stack, and of a site's stack and its allocation, if it is open.
std::optional<CallPair> open_call(const NamedLocation& outer, const NamedLocation& inner);
std::optional<CallPair> open_call(const NamedLocation& innermost);

// The pairs of a recording's stacks, sorted, before anything is known of them: all that could be open.
std::vector<CallPair> find_neighbours(const Recording& recording);
// Whether the module has the C++ runtime's operator new.
bool is_cpp_runtime(const std::string& path);

// Puts what was found (SymbolTable::inferred) into the stacks: as locations of their own, behind all others, with their
// names. What hangs below them is there anew; what it was is of no site any more.
void add_inferred_calls(Recording* recording, SymbolTable* symbols);

}  // namespace heapprof::cli
