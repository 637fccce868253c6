// cli/base/problems_sampling.cc: the words of errors: what is recorded, and when; and profiles of sampled or paused
// runs.
#include "cli/base/problem_words.h"

#include <fmt/format.h>

namespace heapprof::cli {

Problem profile_is_partial(const std::string& file, const std::string& how) {
  return {"HP290", fmt::format("{} {}", file, how),
          "record every block, from the beginning: heapprof run, without --sample and --start",
          "judge its numbers as they are: --allow-sampled", kUsage};
}

Problem flags_exclude(const std::string& flag, const std::string& other, const std::string& reason) {
  return {"HP291", fmt::format("{} and {} cannot go together: {}", flag, other, reason),
          fmt::format("leave out {}", flag), fmt::format("leave out {}", other), kUsage};
}

Problem order_refused(const std::string& command, const std::string& pid, const std::string& reason) {
  return {"HP292", fmt::format("heapprof {} {} was refused: {}", command, pid, reason),
          "see who records it, and how: ps -C heapprof -o pid,user,args",
          fmt::format("look at the profile so far: heapprof snapshot {}", pid), kFailed};
}

Problem bad_mark_name(const std::string& name, size_t most_bytes) {
  return {"HP293",
          name.empty() ? std::string("the mark has no name")
                       : fmt::format("the mark's name has {} bytes, and {} at most would do", name.size(), most_bytes),
          "name it after the process: heapprof mark PID NAME", "let the program set it: HEAPPROF_MARK (man 3 heapprof)",
          kUsage};
}

Problem bad_start(const std::string& value) {
  return {"HP294", fmt::format("--start cannot be '{}'", value), "say paused, after=TIME (after=5s), or at=mark:NAME",
          "leave it out: recording begins at once", kUsage};
}

Problem numbers_are_estimates(const std::string& interval) {
  return {"HP295",
          fmt::format("the profile is sampled, one block for each {}: numbers of the heap are estimates", interval),
          "for exact ones record every block: heapprof run, without --sample",
          "see how far off they may be: heapprof report, ±", kWarning};
}

}  // namespace heapprof::cli
