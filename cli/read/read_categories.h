// cli/read/read_categories.h: a file of categories for scopes (man/heapprof-report.1).
#pragma once

#include "cli/base/result.h"
#include "cli/model/analysis/scope_categories.h"

#include <string>
#include <vector>

namespace heapprof::cli {

Result<std::vector<CategoryRule>> read_categories(const std::string& path);
Result<std::vector<CategoryRule>> parse_categories(const std::string& text, const std::string& path);

}  // namespace heapprof::cli
