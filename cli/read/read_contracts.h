// cli/read/read_contracts.h: reads a file of contracts, in TOML; heapprof-check(1) describes its contents.
//
// Guarantees
//  - As for budgets: anything unknown, of the wrong type or ambiguous is a problem, with file and line.
//  - Each contract has a unique id, a statement, a command, and an assertion that a run can violate.
// Trust:    the file may hold anything: up to 1 MiB of it is read.
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/budget.h"

#include <string>

namespace heapprof::cli {

// The contracts as budgets, in the order of the file.
Result<BudgetFile> read_contracts(const std::string& path);
// The same from text; `path` is its name in messages.
Result<BudgetFile> parse_contracts(std::string text, const std::string& path);

}  // namespace heapprof::cli
