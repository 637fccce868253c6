// cli/read/read_budget.h: a file of budgets, in TOML; heapprof-check(1) says what may stand in it.
//
// Guarantees
//  - A key that is not known, a value of the wrong kind, an ambiguous unit is a problem, with file and line; nothing is
//    guessed.
// Trust:    the file may hold anything: up to 1 MiB of it is looked at.
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/budget.h"

#include <string>

namespace heapprof::cli {

Result<BudgetFile> read_budget(const std::string& path);
// The same from text; `path` is what messages call it.
Result<BudgetFile> parse_budget(std::string text, const std::string& path);

}  // namespace heapprof::cli
