// cli/write/check/contract_text.h: the table at the end of `heapprof check --contracts`: each statement, and whether it
// holds.
#pragma once

#include "cli/base/terminal.h"
#include "cli/write/check/check_report.h"

#include <string>

namespace heapprof::cli {

// "holds", "broken", "not judged".
const char* contract_word(const Verdict& verdict);
// "6 contracts hold", "1 of 7 contracts broken, 1 not judged"; counts the verdicts that are contracts.
std::string contract_sum(const CheckReport& report);
// Empty without contracts.
std::string contract_table(const CheckReport& report, const Terminal& terminal, bool quiet);

}  // namespace heapprof::cli
