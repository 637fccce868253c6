// cli/base/glob.h: patterns in which * stands for any characters and ? for one.
//
// Not provided: sets such as [abc]: brackets stand in the names of functions (operator[], [u8]).
// Cost:     linear in the text for each * in the pattern.
#pragma once

#include <string_view>

namespace heapprof::cli {

// True if the pattern fits the whole text.
bool glob_matches(std::string_view glob, std::string_view text);

}  // namespace heapprof::cli
