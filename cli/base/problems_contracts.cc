// cli/base/problems_contracts.cc: the words of errors and warnings: contracts, and a history as baseline.
#include "cli/base/problem_words.h"

#include <fmt/format.h>

namespace heapprof::cli {

Problem contracts_not_readable(const std::string& file, const std::string& reason) {
  return {"HP180", fmt::format("the contracts in {} cannot be read: {}", file, reason),
          fmt::format("look for the file: ls -l {}", quoted(file)),
          "check one command by flags: heapprof check --max-peak host=512MiB -- PROGRAM", kUsage};
}

Problem no_contract_named(const std::string& glob, const std::string& ids) {
  return {"HP181", fmt::format("no contract matches --name '{}', only {} are there", glob, ids), "name one of them",
          "leave --name out: all of them are run, one after the other", kUsage};
}

Problem contracts_stand_alone(const std::string& other) {
  return {"HP182", fmt::format("--contracts says what is run and what must hold: {} has no place beside it", other),
          fmt::format("leave {} out", other), "write it into the file, or check it in a command of its own", kUsage};
}

Problem history_without_runs(const std::string& file, const std::string& program) {
  return {"HP183", fmt::format("{} has no run of {} to compare with", file, program),
          fmt::format("let it begin with this one: add --history {}", quoted(file)),
          "name a profile as the baseline: --baseline FILE.json", kUsage};
}

Problem history_not_made_baseline(const std::string& file) {
  return {"HP184", fmt::format("--update-baseline makes a profile the baseline, and {} is a history", file),
          fmt::format("begin a new history: mv {0} {0}.old, and check with --history {0}", quoted(file)),
          "name a profile instead: --baseline FILE.json --update-baseline", kUsage};
}

Problem history_begins(const std::string& file, const std::string& program) {
  return {"HP185", fmt::format("{} has no run of {} yet: its growth is not judged this time", file, program),
          "check again: this run is added, and the next one is compared with it",
          "name a profile as the baseline: --baseline FILE.json", kWarning};
}

}  // namespace heapprof::cli
