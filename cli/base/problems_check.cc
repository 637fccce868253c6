// cli/base/problems_check.cc: the words of errors and warnings: budgets and baselines.
#include "cli/base/problem_words.h"
#include "cli/base/units.h"

#include <fmt/format.h>

namespace heapprof::cli {

Problem nothing_to_check() {
  return {"HP140", "there is nothing to check: no profile, no command, no budget",
          "heapprof check --max-peak host=512MiB -- PROGRAM ARGUMENTS",
          "check a profile that exists: heapprof check --max-peak host=512MiB FILE", kUsage};
}

Problem no_limits(const std::string& what) {
  return {"HP141", fmt::format("no limit is set for {}", what), "set one: --max-peak host=512MiB, or --baseline FILE",
          "write them into a file: heapprof check --budget heapprof.toml", kUsage};
}

Problem budget_not_readable(const std::string& file, const std::string& reason) {
  return {"HP142", fmt::format("the budget in {} cannot be read: {}", file, reason),
          fmt::format("look at the file: ls -l {}", quoted(file)), "set limits by flags: --max-peak host=512MiB",
          kUsage};
}

Problem budget_broken(const FileLine& at, const std::string& reason) {
  return {"HP143", fmt::format("{}: {}", file_line_text(at), reason), "write it as man heapprof-check shows",
          "leave it out: what it would limit is not checked", kUsage};
}

Problem unknown_budget_key(const FileLine& at, const std::string& key, const std::string& nearest,
                           const std::string& known) {
  return {"HP144",
          nearest.empty() ? fmt::format("{}: unknown key '{}'", file_line_text(at), key)
                          : fmt::format("{}: unknown key '{}'; did you mean {}?", file_line_text(at), key, nearest),
          fmt::format("the keys here are {}", known), "turn it into a comment: put # in front of it", kUsage};
}

Problem limit_for_unknown_device(const FileLine& at, const std::string& device, const std::string& devices) {
  return {"HP145", fmt::format("{}: the program used no device '{}', only {}", file_line_text(at), device, devices),
          "name one of them",
          "if it may run without that device: put the limit under [defaults], where this is a warning", kUsage};
}

Problem limit_not_needed(const FileLine& at, const std::string& device, const std::string& devices) {
  return {"HP146", fmt::format("{}: the program used no device '{}', only {}", file_line_text(at), device, devices),
          "see whether it should have: heapprof report FILE", "leave the limit out where the device is not used",
          kWarning};
}

Problem site_matches_nothing(const FileLine& at, const std::string& pattern) {
  return {"HP147", fmt::format("{}: no stack has a frame that matches '{}'", file_line_text(at), pattern),
          "see what the functions are called: heapprof report --all-frames --tree FILE",
          "leave the limit out; one of 0 says that it must not appear, and does not warn", kWarning};
}

Problem scope_matches_nothing(const FileLine& at, const std::string& pattern, const std::string& nearest) {
  return {"HP166",
          fmt::format("{}: no scope matches '{}'; the nearest: {}", file_line_text(at), escape_controls(pattern),
                      nearest.empty() ? "none" : nearest),
          "write the path as it is shown, or a glob: heapprof report --scopes FILE",
          "if it must not appear: count = 0, which holds without the scope", kUsage};
}

Problem scopes_missing(const FileLine& at, const std::string& file) {
  return {"HP167", fmt::format("{}: {} has no scopes", file_line_text(at), file),
          "record it again, with a program that names its scopes: man 3 heapprof",
          "leave the scope out: what it would limit is not checked", kUsage};
}

Problem scopes_not_whole(const FileLine& at, const std::string& file, const std::string& lost) {
  return {"HP168",
          fmt::format("{}: the scopes of {} are not all counted: {} found no room", file_line_text(at), file, lost),
          "begin fewer different scopes: names are for operations, not for requests",
          "leave the scope out: what it would limit is not checked", kBadProfile};
}

Problem device_not_called(const FileLine& at, const std::string& key) {
  return {"HP169", fmt::format("{}: the program called no device's API, and {} counts that", file_line_text(at), key),
          "run it where it uses the device",
          "leave the limit out where it does not: what it would limit is not checked", kUsage};
}

Problem limit_not_measured(const FileLine& at, const std::string& file, const std::string& why) {
  return {"HP148", fmt::format("{}: {} cannot say: {}", file_line_text(at), file, why),
          "check the profiles that were merged, one by one", "limit total, leaked or allocations: they add up", kUsage};
}

Problem no_budget_for(const std::string& profile, const std::string& command, const std::string& file) {
  return {"HP149", fmt::format("{} has no budget for {}, a profile of: {}", file, profile, command),
          "say which one it is: --name BUDGET", "give a budget the profile's command", kUsage};
}

Problem no_budget_named(const std::string& glob, const std::string& names) {
  return {"HP150", fmt::format("no budget matches --name '{}', only {}", glob, names), "name one of them",
          "leave --name out: each profile is checked by the budget with its command", kUsage};
}

Problem budget_without_command(const FileLine& at, const std::string& name) {
  return {"HP151", fmt::format("{}: the budget '{}' has no command to run", file_line_text(at), name),
          "give it one: command = [\"./render\", \"small.usd\"]",
          fmt::format("check a profile: heapprof check --name {} FILE", quoted(name)), kUsage};
}

Problem checked_program_failed(const std::string& program, const std::string& how) {
  return {"HP152", fmt::format("{} failed: {}; its memory is not judged", program, how),
          "see why: run it without heapprof", "look at what was recorded: heapprof report FILE", kProgramFailed};
}

Problem checked_profile_incomplete(const std::string& file, const std::string& reason) {
  return {"HP153", fmt::format("{} is incomplete: {}; its memory is not judged", file, reason), "run the program again",
          "see what is missing: heapprof report FILE", kBadProfile};
}

Problem checked_without_profile(const std::string& program) {
  return {"HP154", fmt::format("no profile of {} was made", program), "see what is in the way: heapprof doctor",
          "see it alone: heapprof run -- PROGRAM", kBadProfile};
}

Problem baseline_missing(const std::string& file) {
  return {"HP155", fmt::format("there is no baseline {}", file), "make it: the same command with --update-baseline",
          "leave the baseline out: only the limits are checked", kUsage};
}

Problem baseline_of_other_program(const std::string& file, const std::string& other, const std::string& program) {
  return {"HP156", fmt::format("the baseline {} is of {}, not of {}", file, other, program),
          "name the right one: --baseline FILE", "replace it: the same command with --update-baseline", kUsage};
}

Problem baseline_counts_otherwise(const std::string& file) {
  return {"HP157", fmt::format("the baseline {} is of another tool, or only one of the two is merged", file),
          "make it like the profile: the same command with --update-baseline",
          "leave the baseline out: only the limits are checked", kUsage};
}

Problem budget_not_updated(const std::string& file, const std::string& reason) {
  return {"HP158", fmt::format("{} was not updated: {}", file, reason), "check again with --update-budget",
          "write the values by hand: they stand in the lines above", kFailed};
}

Problem flag_needs_another(const std::string& flag, const std::string& other) {
  return {"HP159", fmt::format("{} needs {} too", flag, other), fmt::format("add {}", other),
          fmt::format("leave {} out", flag), kUsage};
}

Problem runs_of_profiles(const std::string& flag) {
  return {"HP160", fmt::format("{} is for a command that heapprof check runs itself", flag),
          "name the command: heapprof check --runs 3 -- PROGRAM",
          fmt::format("leave {} out: each profile is judged alone", flag), kUsage};
}

Problem baseline_of_failed_program(const std::string& file) {
  return {"HP162", fmt::format("the baseline {} is of a program that failed: what it took says nothing", file),
          "make it again with a run that succeeds: heapprof check --update-baseline …",
          "set limits instead: heapprof check --max-peak SIZE -- PROGRAM", kBadProfile};
}

Problem only_defaults_apply(const std::string& program, const std::string& file) {
  return {"HP163", fmt::format("no budget of {} is for {}: its defaults apply", file, program),
          "add a [[budget]] with that command, or mend the one that was meant",
          "name the budget: heapprof check --name NAME …", kWarning};
}

Problem others_not_judged(uint64_t processes, bool is_each_judged) {
  const std::string who = fmt::format("{} that the program started {} not judged", format_counted(processes, "process"),
                                      processes == 1 ? "was" : "were");
  if (is_each_judged) {
    return {"HP161", fmt::format("{}: {} no profile, or no limit", who, processes == 1 ? "it has" : "they have"),
            "see which: heapprof run --wait -- PROGRAM", "read the verdict as that of the others", kWarning};
  }
  return {"HP161", who + ": only the program itself is", "judge every process: heapprof check --processes each",
          "name the program that matters, without the script around it", kWarning};
}

Problem replaced_not_judged(uint64_t programs) {
  return {"HP164",
          fmt::format("{} by exec {} not judged: only what a process was in the end is",
                      programs == 1 ? "1 program that another replaced"
                                    : fmt::format("{} programs that others replaced", programs),
                      programs == 1 ? "was" : "were"),
          "look at its profile: heapprof run -o p.json -- PROGRAM; heapprof report p.exec1.json",
          "leave it so if it did no more than start the other", kWarning};
}

Problem outputs_to_one_file(const std::string& first, const std::string& second, const std::string& file) {
  return {"HP165", fmt::format("{} and {} both name {}", first, second, file), "give each a file of its own",
          "leave one of them out", kUsage};
}

}  // namespace heapprof::cli
