// cli/base/problem_words.h: what the sentences of problems_*.cc share.
//
// A sentence says what was needed and what was found, quotes what the user typed, and starts in lower case without a
// full stop; `fix` is a step that solves it, `instead` an alternative and its price.
#pragma once

#include "cli/base/problems.h"
#include "cli/base/text.h"

#include <string>

namespace heapprof::cli {

inline constexpr int kWarning = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kBadProfile = 3;
inline constexpr int kNotMeasured = 3;
inline constexpr int kProgramFailed = 4;   // of `check`
inline constexpr int kStepIncomplete = 4;  // of `merge`
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;

// Quotes a word for a shell where needed, because users paste fixes.
inline std::string quoted(const std::string& word) { return shell_quoted(word); }

// Returns a Valgrind command for programs in which no agent can be preloaded: Valgrind runs the code itself. Tried with
// musl, 32-bit x86 and programs that define malloc; in static programs Valgrind's DHAT sees nothing.
std::string valgrind_instead(const std::string& program, const std::string& flags = "");

// "heapprof.toml, line 7"; for a flag only the flag.
std::string file_line_text(const FileLine& at);

}  // namespace heapprof::cli
