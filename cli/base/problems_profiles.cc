// cli/base/problems_profiles.cc: the words of errors and warnings: reading, merging, comparing and exporting profiles,
// and histories.
#include "cli/base/problem_words.h"
#include "cli/base/units.h"

#include <fmt/format.h>

namespace heapprof::cli {

Problem profile_not_readable(const std::string& file, const std::string& reason) {
  return {"HP060", fmt::format("{} cannot be read: {}", file, reason),
          fmt::format("look for it: ls -l {}", quoted(file)), "make a profile: heapprof run -o FILE -- PROGRAM",
          kBadProfile};
}

Problem profile_not_json(const std::string& file, uint64_t offset_bytes, const std::string& reason) {
  return {"HP061", fmt::format("{} is not JSON: {} (byte {})", file, reason, format_count_exact(offset_bytes)),
          "name a profile of heapprof run, of valgrind --tool=dhat or of dhat-rs",
          "if the file was cut off, make it again: heapprof run", kBadProfile};
}

Problem profile_not_dhat(const std::string& file, const std::string& reason) {
  return {"HP062", fmt::format("{} is no profile: {}", file, reason),
          "name a profile of heapprof run, of valgrind --tool=dhat or of dhat-rs", "", kBadProfile};
}

Problem profile_too_new(const std::string& file, const std::string& what, Versions versions) {
  return {
      "HP063",
      fmt::format("{} has {} of version {}; this heapprof reads up to {}", file, what, versions.found, versions.known),
      "read it with the heapprof that wrote it, or a newer one", "", kBadProfile};
}

Problem profile_broken(const std::string& file, const std::string& reason) {
  return {"HP064", fmt::format("{} contradicts itself: {}", file, reason), "make the profile again: heapprof run", "",
          kBadProfile};
}

Problem profile_too_large(const std::string& file, Sizes sizes) {
  return {"HP065",
          fmt::format("{} has {}, more than the {} that heapprof reads", file, format_bytes(sizes.found_bytes),
                      format_bytes(sizes.limit_bytes)),
          "write a smaller profile: leave --all-sites out", "", kBadProfile};
}

Problem profile_unpacks_too_far(const std::string& file, uint64_t limit_bytes) {
  return {"HP343",
          fmt::format("{} unpacks to more than the {} that heapprof reads of it", file, format_bytes(limit_bytes)),
          "if you trust it, unpack it and name what comes out: gzip -dc FILE >profile.json", "", kBadProfile};
}

Problem suppressions_not_readable(const std::string& file, const std::string& reason) {
  return {"HP080", fmt::format("the suppressions in {} cannot be read: {}", file, reason),
          fmt::format("look for the file: ls -l {}", quoted(file)),
          "leave --suppressions out: all that is live at exit is shown", kUsage};
}

Problem suppression_broken(const FileLine& at, const std::string& reason, bool is_fold) {
  if (is_fold) {
    return {"HP081", fmt::format("{}, line {}: {}", at.file, at.line, reason),
            "write it like this: fold function:GLOB module:GLOB file:GLOB  # why, if you like",
            "leave the line out: the function keeps its rows", kUsage};
  }
  return {"HP081", fmt::format("{}, line {}: {}", at.file, at.line, reason),
          "write it like this: function:GLOB module:GLOB <- file:GLOB  # why this is known to stay",
          "leave the line out: what it would suppress is shown as live at exit", kUsage};
}

Problem fold_unused(const std::string& rule) {
  return {"HP117", fmt::format("nothing is folded by {}: no function is called so", rule),
          "look for the function's name: heapprof report --all-frames", "match a part of it: --fold '*PART*'",
          kWarning};
}

Problem code_unused(const std::string& glob) {
  return {"HP342", fmt::format("no source file and no module is called like {}", glob),
          "look for the paths: heapprof report --all-frames", "match a part of one: --library-code '*PART*'", kWarning};
}

Problem nothing_to_merge() {
  return {"HP082", "no profiles were named", "heapprof merge -o OUT FILE FILE", "name the folder that they lie in",
          kUsage};
}

Problem folder_without_profiles(const std::string& folder) {
  return {"HP083", fmt::format("there is no *.json or *.json.gz in {}", folder),
          fmt::format("look what is in it: ls -l {}", quoted(folder)), "name the profiles one by one", kUsage};
}

Problem ranks_failed(uint64_t count, const std::string& which) {
  return {"HP270", fmt::format("{} failed: {}", format_counted(count, "rank"), which),
          "look at one that failed: the folder of whole profiles has them (merge --keep)",
          "look at all of them: heapprof report --table ranks --format csv FILE", kWarning};
}

Problem ranks_missing(uint64_t count, uint64_t ranks, const std::string& which) {
  return {"HP271",
          fmt::format("{} of {} left no profile that was merged: {}", format_count(count),
                      format_counted(ranks, "rank"), which),
          "look for the profiles where those ranks ran, and merge them with the sum: merge -o ALL SUM FILE",
          "use the sum unchanged: it covers the ranks that it lists", kWarning};
}

Problem step_incomplete(const std::string& file, const std::string& which, uint64_t processes) {
  return {"HP272",
          fmt::format("{} lacks what some of the {} of this step had: {}", file, format_counted(processes, "process"),
                      which),
          "run the step again, with more time for those that were late: --wait SECONDS",
          "use the sum unchanged: it lists the profiles that it covers", kStepIncomplete};
}

Problem step_not_coordinated(const std::string& folder, const std::string& why) {
  return {"HP273", fmt::format("this process's share is in no sum: {} (in {})", why, folder),
          "name a folder that all processes of the step see: --via FOLDER",
          "merge in one process, where all profiles can be seen: heapprof merge --alone", kFailed};
}

Problem process_merged_twice(const std::string& name, const std::string& file) {
  return {"HP274", fmt::format("two profiles called {} are of one process, {}: it would be counted twice", file, name),
          "take the copy out of the folders that are merged",
          "merge the files one by one: heapprof merge -o OUT FILE FILE", kUsage};
}

Problem profiles_do_not_add(const std::string& first, const std::string& second, const std::string& why) {
  return {"HP084", fmt::format("{} and {} do not add up: {}", first, second, why),
          "merge those of one kind, each kind into a file of its own", "look at each: heapprof report FILE", kUsage};
}

Problem profile_named_twice(const std::string& file) {
  return {"HP085", fmt::format("{} is named twice: it would be counted twice", file), "name it once",
          fmt::format("if you mean it: cp {} copy.json, and name the copy", quoted(file)), kUsage};
}

Problem output_not_named(const std::string& command) {
  return {"HP086", fmt::format("heapprof {} needs an output file", command),
          fmt::format("heapprof {} -o OUT FILE FILE", command), "", kUsage};
}

Problem different_commands(const std::string& base, const std::string& current) {
  return {"HP120", fmt::format("base is of '{}', current of '{}'", base, current),
          "compare runs of one command: heapprof diff BASE CURRENT",
          "if this is intended, ignore it: functions are matched by name, in whichever program", kWarning};
}

Problem nothing_to_compare() {
  return {"HP121", "two profiles are needed: what was before, and what is now", "heapprof diff BASE CURRENT",
          "look at one profile alone: heapprof report FILE", kUsage};
}

Problem profile_not_whole(const std::string& file, const std::string& reason) {
  return {"HP122", fmt::format("{} is incomplete: {}", file, reason),
          fmt::format("make it again: heapprof run -o {} -- PROGRAM", quoted(file)),
          "read its numbers as lower bounds: what the changes say may be wrong", kBadProfile};
}

Problem tools_count_differently(const std::string& base_of, const std::string& current_of) {
  return {"HP123", fmt::format("{}, {}: they do not count the same", base_of, current_of),
          "make both with one tool: heapprof run -o FILE -- PROGRAM",
          "trust large changes only: empty blocks and what was allocated before main() are counted differently",
          kWarning};
}

Problem folder_needs_folder(const std::string& folder, const std::string& file) {
  return {"HP124", fmt::format("{} is a folder, which is compared with a folder, not with {}", folder, file),
          "name two folders, whose profiles are paired by command", "name two profiles: heapprof diff BASE CURRENT",
          kUsage};
}

Problem profiles_without_partner(const std::string& files) {
  return {"HP125", fmt::format("no partner, so not compared: {}", files),
          "profile the same commands for both folders, or give files the same name",
          "compare two of them: heapprof diff BASE CURRENT", kWarning};
}

Problem folders_have_no_page(const std::string& folder) {
  return {"HP245", fmt::format("'{}' is a folder: a page is of two profiles", folder),
          "heapprof diff --html OUT BASE.json CURRENT.json, with one profile of each folder",
          fmt::format("heapprof diff --format markdown BASE {}   (a table of all pairs)", quoted(folder)), kUsage};
}

Problem no_command_in_both(const std::string& base, const std::string& current) {
  return {"HP126", fmt::format("no command was profiled in both {} and {}", base, current),
          "profile the same commands for both folders, or give files the same name",
          "compare two of them: heapprof diff BASE CURRENT", kUsage};
}

Problem no_base_of_command(const std::string& folder, const std::string& command) {
  return {"HP127", fmt::format("no profile in {} is of the command '{}'", folder, command),
          "name the profile to compare with: heapprof diff BASE CURRENT",
          fmt::format("see what they are of: heapprof report {}/FILE", quoted(folder)), kUsage};
}

Problem profile_without_offsets(const std::string& file, const std::string& reason) {
  return {"HP096", fmt::format("{} does not say where in which file its functions lie: {}", file, reason),
          "profile the program again: heapprof run -o FILE -- PROGRAM",
          "read it as it is: heapprof report " + quoted(file), kBadProfile};
}

Problem format_not_named(const std::string& formats, const std::string& file) {
  const std::string name = file.empty() ? "FILE" : quoted(file);
  return {"HP130", fmt::format("export needs a format: one of {}", formats),
          fmt::format("heapprof export --format speedscope -o {}.speedscope {}", name, name),
          fmt::format("read it here: heapprof report {}", name), kUsage};
}

Problem binary_on_terminal(const std::string& format, const std::string& file) {
  return {"HP131", fmt::format("{} is binary, and standard output is a terminal", format),
          fmt::format("heapprof export --format {} -o OUT {}", format, quoted(file)),
          "send it to a file or a program: … >OUT", kUsage};
}

Problem metric_not_exported(const std::string& format, const std::string& reason) {
  return {"HP132", fmt::format("--format {} takes no --metric: {}", format, reason),
          "leave --metric out, and choose in the viewer", "choose a format of one metric: --format folded", kUsage};
}

Problem no_device_trace(const std::string& file, const std::string& reason) {
  return {"HP139", fmt::format("{} has no trace of device memory: {}", file, reason),
          "record one: heapprof run --device-trace 10000 -o FILE -- PROGRAM",
          "look at sums by site: heapprof report " + quoted(file), kUsage};
}

Problem history_not_named() {
  return {"HP133", "no file of history was named", "heapprof history FILE.jsonl",
          "begin one: heapprof history --add FILE.jsonl PROFILE", kUsage};
}

Problem history_line_unusable(const FileLine& at, const std::string& reason) {
  return {"HP134", fmt::format("{} line {} is left out: {}", at.file, at.line, reason),
          fmt::format("look at it: sed -n {}p {}", at.line, quoted(at.file)),
          "the other lines count; nothing else is lost", kWarning};
}

Problem history_not_readable(const std::string& file, const std::string& reason) {
  return {"HP135", fmt::format("the history {} cannot be read: {}", file, reason),
          fmt::format("check the path and its permissions: ls -l {}", quoted(file)),
          fmt::format("begin one: heapprof history --add {} PROFILE", quoted(file)), kBadProfile};
}

Problem history_not_writable(const std::string& file, const std::string& reason) {
  return {"HP136", fmt::format("nothing was added to the history {}: {}", file, reason),
          fmt::format("check its folder, its permissions and the room on its disk: ls -l {}", quoted(file)),
          "name a file elsewhere; lines of two files can be joined by cat", kFailed};
}

Problem not_a_history(const std::string& file) {
  return {"HP344", fmt::format("nothing was added to {}: what it begins with is no history", file),
          "name the file of history first, then profiles: heapprof history --add FILE.jsonl PROFILE",
          fmt::format("begin a new one, or see what this is: head -c 100 {}", quoted(file)), kFailed};
}

Problem nothing_in_history(const std::string& file, const std::string& wanted, const std::string& there) {
  return {"HP137", fmt::format("{} has no entries of {}", file, wanted), fmt::format("it has these: {}", there),
          "leave the filters out to see all", kUsage};
}

Problem nothing_to_add(const std::string& file) {
  return {"HP138", "no profile was named to be added", fmt::format("heapprof history --add {} PROFILE", quoted(file)),
          fmt::format("to look at what is there: heapprof history {}", quoted(file)), kUsage};
}

}  // namespace heapprof::cli
