// cli/write/report/scopes/scopes_text.h: the program's own scopes as a tree, and its marks.
#pragma once

#include "cli/model/analysis/scope_categories.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ScopesLook {
  size_t columns = 80;
  bool exact_bytes = false;
  bool stable = false;  // omits what differs from run to run: times, numbers of threads; sorted by name
  std::vector<CategoryRule> categories = {};  // from a file
};

// If the program had neither scopes nor marks, the text says so.
std::string scopes_text(const Profile& profile, const ScopesLook& look);

}  // namespace heapprof::cli
