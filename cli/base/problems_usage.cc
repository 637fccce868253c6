// cli/base/problems_usage.cc: the words of errors and warnings: command lines and output.
#include "cli/base/problem_words.h"
#include "cli/base/units.h"

#include <fmt/format.h>

namespace heapprof::cli {

Problem unknown_directive(const std::string& name, const std::string& directive) {
  return {"HP100", fmt::format("'{}' in the name {} means nothing", directive, name),
          "use %p (pid), %n (program), %r (rank), %t (start time), %% (a percent sign)",
          "leave it out: the other processes' profiles get their pid", kUsage};
}

Problem unknown_flag(const std::string& flag, const std::string& nearest, const std::string& command) {
  const std::string help = fmt::format("see the flags: heapprof {}--help", command.empty() ? "" : command + " ");
  return {"HP050",
          nearest.empty() ? fmt::format("unknown flag: {}", flag)
                          : fmt::format("unknown flag: {}; did you mean {}?", flag, nearest),
          help, command == "run" ? "if it is the program's own flag, put it after the program" : "", kUsage};
}

Problem missing_program(const std::string& command) {
  return {"HP051", "no program to run was named", fmt::format("heapprof {} -- PROGRAM ARGUMENTS", command),
          command == "run" ? "read a profile that exists: heapprof report FILE"
                           : fmt::format("name a profile that exists: heapprof {} FILE", command),
          kUsage};
}

Problem bad_value(const std::string& flag, const std::string& value, const std::string& expected) {
  return {"HP052", fmt::format("{} takes {}, not '{}'", flag, expected, value),
          fmt::format("give {} another value, or leave it out", flag), "", kUsage};
}

Problem bad_interval(const std::string& text) {
  return {"HP200", fmt::format("'{}' is no interval between snapshots", text),
          "write a time from 10ms to 24h, in whole ms, s, min or h: --interval 5s",
          "take snapshots at the program's marks alone: --interval marks", kUsage};
}

Problem no_snapshots(const std::string& file) {
  return {"HP201", fmt::format("{} has no snapshots", file), "keep some: heapprof run --interval 5s -- PROGRAM",
          fmt::format("look at what it has of the whole run: heapprof report {}", quoted(file)), kUsage};
}

Problem unknown_snapshot(const std::string& name, const std::string& file, const std::string& known) {
  return {"HP202", fmt::format("{} has no snapshot '{}', only {}", file, name, known),
          fmt::format("see what it has: heapprof report --snapshots {}", quoted(file)),
          "leave the snapshot out, to see the whole run", kUsage};
}

Problem several_snapshots(const std::string& name, const std::string& file, const std::string& numbers) {
  return {"HP203", fmt::format("{} has several snapshots '{}': {}", file, name, numbers), "name one by its number",
          fmt::format("see all of them: heapprof report --snapshots {}", quoted(file)), kUsage};
}

Problem snapshots_not_merged(uint64_t snapshots) {
  return {"HP204",
          fmt::format("{} left out: moments of different runs do not add", format_counted(snapshots, "snapshot")),
          "look at them in the profiles themselves: heapprof report --snapshots FILE",
          "compare two of one profile: heapprof diff FILE@1 FILE@2", kWarning};
}

Problem no_source_of_name(const std::string& file, const std::string& name, const std::string& nearest,
                          bool has_frames) {
  const std::string instead = fmt::format("see all places: heapprof report --top 50 {}", quoted(file));
  if (has_frames)
    return {"HP347", fmt::format("{} knows no lines of '{}', only its name", file, escape_controls(name)),
            "compile it with -g, and profile it again", instead, kUsage};
  return {"HP347",
          fmt::format("{} has no source file or function '{}'; the nearest: {}", file, escape_controls(name),
                      nearest.empty() ? "none" : nearest),
          "write it as reports show it, or a glob: --source 'src/*.cc'", instead, kUsage};
}

Problem no_scope_of_name(const std::string& file, const std::string& glob, const std::string& nearest) {
  return {"HP220",
          fmt::format("{} has no scope '{}'; the nearest: {}", file, escape_controls(glob),
                      nearest.empty() ? "none" : nearest),
          "write its name or its path as it is shown, or a glob: --instances 'serve > *'",
          fmt::format("see all of them: heapprof report --scopes {}", quoted(file)), kUsage};
}

Problem categories_not_readable(const std::string& file, const std::string& reason) {
  return {"HP221", fmt::format("the categories in {} cannot be read: {}", file, reason),
          fmt::format("look for the file: ls -l {}", quoted(file)),
          "leave --categories out: scopes have those that the program gave them", kUsage};
}

Problem categories_broken(const std::string& what) {
  return {"HP222", what, "write it as man heapprof-report shows",
          "leave --categories out: scopes have those that the program gave them", kUsage};
}

Problem no_runs_of_scopes(const std::string& file, bool has_scopes) {
  if (!has_scopes)
    return {"HP223", fmt::format("{} has no scopes, whose runs could make up a critical path", file),
            "name operations of the program, HEAPPROF_SCOPE(\"parse\"), and record it again: man heapprof.3",
            fmt::format("look at what it has of the whole run: heapprof report {}", quoted(file)), kUsage};
  return {"HP223", fmt::format("{} has scopes, but no single runs through them, as merged profiles have none", file),
          "name the profile of one process, as heapprof run writes it",
          fmt::format("see what the scopes came to: heapprof report --scopes {}", quoted(file)), kUsage};
}

Problem missing_value(const std::string& flag, const std::string& placeholder) {
  return {"HP059", fmt::format("{} needs a value", flag), fmt::format("{} {}", flag, placeholder), "", kUsage};
}

Problem ambiguous_size(const std::string& text, const std::string& alternatives) {
  return {"HP053", fmt::format("ambiguous '{}': write {}", text, alternatives), "write the unit in full",
          "give plain bytes, without a unit", kUsage};
}

Problem bad_size(const std::string& text) {
  return {"HP054", fmt::format("'{}' is not a size", text), "write a number and a unit: 512MiB, 1.5GiB or 4096B", "",
          kUsage};
}

Problem unknown_command(const std::string& command, const std::string& nearest) {
  return {"HP055",
          nearest.empty() ? fmt::format("unknown command: {}", command)
                          : fmt::format("unknown command: {}; did you mean {}?", command, nearest),
          "see the commands: heapprof --help",
          fmt::format("to profile a program of that name: heapprof run -- {}", quoted(command)), kUsage};
}

Problem command_is_file(const std::string& word, const std::string& command, const std::string& purpose) {
  return {"HP190", fmt::format("'{}' is no command of heapprof", word), fmt::format("{}: {}", purpose, command),
          "see the commands: heapprof --help", kUsage};
}

Problem missing_profile(const std::string& command, const std::string& folder) {
  const std::string nor = folder.empty() ? "" : fmt::format(", and {} has none", folder);
  return {"HP056", "no profile was named" + nor, fmt::format("heapprof {} FILE", command),
          "make one: heapprof run -- PROGRAM", kUsage};
}

Problem unknown_device(const std::string& device, const std::string& devices) {
  return {"HP057", fmt::format("the profile has no device '{}', only {}", device, devices),
          "name one of them, or leave --device out", "", kUsage};
}

Problem findings_need_ours(const std::string& file) {
  return {"HP170", fmt::format("{} was not written by heapprof, and lacks what findings go by", file),
          "record the program with heapprof: heapprof run -- PROGRAM",
          fmt::format("look at it without --findings: heapprof report {}", file), kUsage};
}

Problem findings_not_in_format(const std::string& format) {
  return {"HP171", fmt::format("there is no {} of findings, which are words", format),
          "ask for JSON: heapprof report --findings --format json FILE", "leave --format out, for text", kUsage};
}

Problem flags_exclude_each_other(const std::string& first, const std::string& second) {
  return {"HP172", fmt::format("{} and {} ask for different things", first, second),
          fmt::format("leave {} out", second), fmt::format("leave {} out", first), kUsage};
}

Problem unexpected_argument(const std::string& argument, const std::string& command) {
  return {"HP058", fmt::format("'{}' is one argument too many", argument),
          fmt::format("see the usage: heapprof {} -h", command), "", kUsage};
}

Problem one_profile_too_many(const std::string& first, const std::string& second) {
  const std::string files = quoted(first) + " " + quoted(second);
  return {"HP191", fmt::format("report takes one profile, and '{}' is a second one", second),
          "compare them: heapprof diff " + files, "add them up: heapprof merge -o all.json " + files, kUsage};
}

Problem one_profile_in_format(const std::string& format, const std::string& second, const std::string& others) {
  return {"HP250", fmt::format("--format {} holds one profile, and '{}' is a second one", format, second),
          "export one after the other, or choose a format of several: " + others,
          "add them up first: heapprof merge -o all.json FILES", kUsage};
}

Problem metric_not_in_profile(const std::string& file, const std::string& metric) {
  return {"HP067", fmt::format("{} does not have the metric {}: its tool does not count it", file, metric),
          "go by something else, such as total", "profile the program with heapprof run, which counts them", kUsage};
}

Problem stdout_not_writable(const std::string& reason) {
  return {"HP066", fmt::format("the output could not be written: {}", reason),
          "free space where it goes, or send it elsewhere", "", kFailed};
}

}  // namespace heapprof::cli
