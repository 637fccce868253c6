// cli/read/read_contracts.h: a file of contracts, in TOML; heapprof-check(1) says what may stand in it.
//
// Guarantees
//  - As of budgets: what is not known, of the wrong kind or ambiguous is a problem, with file and line.
//  - Each contract has an id of its own, a statement, a command, and something that can prove it wrong.
// Trust:    the file may hold anything: up to 1 MiB of it is looked at.
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/budget.h"

#include <string>

namespace heapprof::cli {

// The contracts as budgets, in the order of the file.
Result<BudgetFile> read_contracts(const std::string& path);
// The same from text; `path` is what messages call it.
Result<BudgetFile> parse_contracts(std::string text, const std::string& path);

}  // namespace heapprof::cli
