// cli/write/report/scopes/scope_rows.h: tables whose last column is a name, such as those about scopes.
#pragma once

#include "cli/model/profile/scopes.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

using ScopeRow = std::vector<std::string>;

// All columns but the last are right-aligned. The last is shortened to fit, or goes on its own line if the others leave
// no room. The first row is the head. If a row has fewer columns than the head, its last column spans the remaining
// ones.
std::string lay_out_rows(const std::vector<ScopeRow>& rows, size_t columns);

// "io: read", with characters escaped that would break the layout.
std::string scope_full_name(const std::string& category, const std::string& name);

}  // namespace heapprof::cli
