// cli/base/glob.h: patterns in which * matches any characters and ? matches one.
//
// Not provided: sets such as [abc]: function names contain brackets (operator[], [u8]).
// Cost:     linear in the text for each * in the pattern.
#pragma once

#include <string_view>

namespace heapprof::cli {

// True if the pattern matches the whole text.
bool glob_matches(std::string_view glob, std::string_view text);

}  // namespace heapprof::cli
