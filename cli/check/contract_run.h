// cli/check/contract_run.h: what a contract claims besides memory: the run's end and its files.
//
// Guarantees
//  - A file that was there before counts only if the run wrote to it, so that a file of an earlier run proves nothing.
//  - A program that fails unexpectedly, and an incomplete profile, prove nothing: they are not judged.
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/budget.h"
#include "cli/model/judge/verdict.h"
#include "cli/run/inherited.h"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// How the run ended, and whether it can be judged: an end that the contract names is no failure of the program. With
// warn_only, an end that the contract does not name is a failure.
RunState state_for(const Budget& budget, const Profile& profile, bool warn_only);
// True if the run ended as the contract says, or if the contract names no end.
bool ended_as_claimed(const Budget& budget, const RunEnd& end);

// One contract's claims besides memory; checks its files when it is constructed, and again in judge().
class ContractRun {
 public:
  explicit ContractRun(const Contract& contract);  // before the run; the contract outlives it
  std::vector<Judged> judge(const RunEnd& end) const;

 private:
  void judge_file(const FileClaim& claim, const std::optional<struct stat>& before, std::vector<Judged>* lines) const;

  const Contract& contract_;
  std::vector<std::optional<struct stat>> before_;  // by file
};

// Adds the contract's claims besides memory.
void add_facts(const ContractRun& contract, Verdict* verdict);
// True if Ctrl-C was meant to end the whole check, and is not the end that a contract claims.
bool was_stopped(const Budget& budget, const RunEnd& end);

// Runs the command as if there were no heapprof, and waits for it.
Result<RunEnd> run_unprofiled(const std::vector<std::string>& command, const Inherited& inherited);

}  // namespace heapprof::cli
