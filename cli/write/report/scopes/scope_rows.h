// cli/write/report/scopes/scope_rows.h: tables whose last column is a name, as those about scopes are.
#pragma once

#include "cli/model/profile/scopes.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

using ScopeRow = std::vector<std::string>;

// All but the last column end at their right side; the last is shortened to what there is room for, on a line of its
// own where the others leave none. A row may have fewer columns than the first one, which is the head: its last one
// goes across the others.
std::string lay_out_rows(const std::vector<ScopeRow>& rows, size_t columns);

// "io: read", with nothing in it that breaks out of its place.
std::string scope_full_name(const std::string& category, const std::string& name);

}  // namespace heapprof::cli
