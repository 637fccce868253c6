// cli/model/analysis/scope_paths.h: scopes by their names and paths.
#pragma once

#include "cli/model/profile/scopes.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// "json: parse", with control characters escaped.
std::string name_of_scope(const Scope& scope);

// "load > json: parse", with control characters escaped. If a scope is deeper than 256 levels, "…" replaces the
// outermost ones.
std::string path_of_scope(const Scopes& scopes, uint32_t index);

// Whether a glob fits a scope: its path or its own name, with or without categories.
bool is_scope_meant(const Scopes& scopes, uint32_t index, std::string_view glob);
std::vector<uint32_t> find_scopes_meant(const Scopes& scopes, std::string_view glob);

}  // namespace heapprof::cli
