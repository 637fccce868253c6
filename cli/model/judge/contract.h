// cli/model/judge/contract.h: a statement about a program that one run can prove wrong: how it ends, which files it
// leaves.
//
// The limits on its memory stand in the budget that holds the contract (cli/model/judge/budget.h).
// cli/read/read_contracts makes these from a file; cli/check/contract_run looks at what a run left.
#pragma once

#include "cli/base/problems.h"
#include "cli/model/profile/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// From `least` to `most`, both allowed.
struct Expectation {
  uint64_t least = 0;
  uint64_t most = 0;
};

// The run ends in this way; any other end breaks the contract.
struct EndClaim {
  RunEnd end;
  FileLine at;
};

// The run writes this file; one that was there before and is as it was breaks the contract.
struct FileClaim {
  std::string path;
  std::optional<Expectation> size;    // of the file, in bytes
  std::optional<Expectation> number;  // the first number that stands in it
  bool number_is_bytes = false;       // how it was written, and is shown
  FileLine at;
};

struct Contract {
  std::string statement;
  std::optional<EndClaim> end;  // none: a program that fails is not judged
  std::vector<FileClaim> files;
  bool is_profiled = true;  // false: it runs as if there were no heapprof
};

// What a contract found besides memory: one claim, in words.
struct Fact {
  std::string what;    // "exit", "p.json", "size of p.json"; of its own in a contract
  std::string found;   // "killed by SIGKILL", "missing"
  std::string wanted;  // "exit 0", "980 B to 1020 B"
};

}  // namespace heapprof::cli
