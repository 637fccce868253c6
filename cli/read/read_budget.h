// cli/read/read_budget.h: reads a file of budgets, in TOML; heapprof-check(1) describes its contents.
//
// Guarantees
//  - An unknown key, a value of the wrong type, or an ambiguous unit is a problem, with file and line; nothing is
//    guessed.
// Trust:    the file may hold anything: up to 1 MiB of it is read.
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/budget.h"

#include <string>

namespace heapprof::cli {

Result<BudgetFile> read_budget(const std::string& path);
// The same from text; `path` is its name in messages.
Result<BudgetFile> parse_budget(std::string text, const std::string& path);

}  // namespace heapprof::cli
