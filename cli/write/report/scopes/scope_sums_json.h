// cli/write/report/scopes/scope_sums_json.h: what scopes came to by category, and PyTorch's operators by name, for
// scripts.
#pragma once

#include "cli/model/analysis/scope_categories.h"
#include "cli/write/encode/json_stream.h"

#include <vector>

namespace heapprof::cli {

// Writes the members "operators", where there are any, and "categories" into an open object.
void write_scope_sums(const Scopes& scopes, const std::vector<CategoryRule>& rules, JsonWriter* json);

}  // namespace heapprof::cli
