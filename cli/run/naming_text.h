// cli/run/naming_text.h: what `heapprof symbolize` prints: how many functions got a name, and how many a source line.
// For the other functions it gives their module, its package, the reason, and what would help.
#pragma once

#include "cli/base/terminal.h"
#include "cli/run/name_profile.h"

#include <string>

namespace heapprof::cli {

struct NamedProfile {
  std::string file;   // as the user typed it
  std::string saved;  // where it was written; empty: not written
};

// If names are missing, asks this machine's package managers (names_advice.h).
std::string naming_text(const Naming& naming, const NamedProfile& profile, const Terminal& terminal);

}  // namespace heapprof::cli
