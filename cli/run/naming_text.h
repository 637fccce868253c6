// cli/run/naming_text.h: what `heapprof symbolize` says: how much was named, and of what was not, why, whose it is and
// what helps.
#pragma once

#include "cli/base/terminal.h"
#include "cli/run/name_profile.h"

#include <string>

namespace heapprof::cli {

struct NamedProfile {
  std::string file;   // as the user typed it
  std::string saved;  // where it was written; empty: it was not
};

// Asks this machine's package managers (names_advice.h) where names are missing.
std::string naming_text(const Naming& naming, const NamedProfile& profile, const Terminal& terminal);

}  // namespace heapprof::cli
