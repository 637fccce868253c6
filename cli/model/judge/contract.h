// cli/model/judge/contract.h: an assertion about a program, checked by running it: how it ends, which files it leaves.
//
// The limits on the program's memory are in the budget that has the contract (cli/model/judge/budget.h).
// cli/read/read_contracts reads contracts from a file; cli/check/contract_run checks how a run ended and which files it
// left.
#pragma once

#include "cli/base/problems.h"
#include "cli/model/profile/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// From `least` to `most`, both inclusive.
struct Expectation {
  uint64_t least = 0;
  uint64_t most = 0;
};

// The run ends in this way; any other end breaks the contract.
struct EndClaim {
  RunEnd end;
  FileLine at;
};

// The run writes this file; an unchanged file from before breaks the contract.
struct FileClaim {
  std::string path;
  std::optional<Expectation> size;    // of the file, in bytes
  std::optional<Expectation> number;  // the first number in it
  bool number_is_bytes = false;       // whether `number` is in bytes, in the contract and in output
  FileLine at;
};

struct Contract {
  std::string statement;
  std::optional<EndClaim> end;  // nullopt: a program that fails is not judged
  std::vector<FileClaim> files;
  bool is_profiled = true;  // false: it runs without heapprof
};

// The result, in words, of checking one claim of a contract that is not about memory.
struct Fact {
  std::string what;    // "exit", "p.json", "size of p.json"; unique in a contract
  std::string found;   // "killed by SIGKILL", "missing"
  std::string wanted;  // "exit 0", "980 B to 1020 B"
};

}  // namespace heapprof::cli
