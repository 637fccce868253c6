// cli/commands/snapshot.cc: chooses the file's name, asks the collector for a snapshot, prints what was written.
#include "cli/base/file_name.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/run/profile_path.h"
#include "cli/target/snapshot_client.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <charconv>

namespace heapprof::cli {
namespace {

struct SnapshotOptions {
  std::string pid;
  std::string output;
  bool quiet = false;
  ColorMode color = ColorMode::kAuto;
};

Result<int> snapshot(const SnapshotOptions& options) {
  if (options.pid.empty()) return missing_pid("snapshot");
  pid_t pid = 0;
  const char* const end = options.pid.data() + options.pid.size();
  const auto [rest, error] = std::from_chars(options.pid.data(), end, pid);
  if (error != std::errc{} || rest != end || pid <= 0) return bad_value("PID", options.pid, "the number of a process");
  const std::string path = options.output.empty() ? base_name(default_snapshot_path(pid)) : options.output;
  const Result<SnapshotTaken> taken = ask_for_snapshot(pid, absolute_path(path), !options.output.empty());
  if (!taken) return taken.problem();
  if (options.quiet) return 0;
  // If the requested path was written, it is shown as the user typed it.
  const bool is_as_named = absolute_path(path) == taken->path;
  const bool utf8 = inspect_terminal(STDERR_FILENO, ColorMode::kAuto).utf8;
  const std::string shown = pasted_file(is_as_named ? path : taken->path, utf8);
  const std::string devices = taken->devices.empty() ? "" : ", " + escape_controls(taken->devices);
  fmt::print(stderr, "process {} runs on: {} live, peak so far {}{}\nsaved  {}  {}\nnext   heapprof report {}\n", pid,
             format_bytes(taken->live_bytes), format_bytes(taken->peak_bytes), devices, shown,
             format_bytes(taken->size_bytes), shown);
  return 0;
}

}  // namespace

CommandText snapshot_text() {
  return {"snapshot",
          "heapprof snapshot [OPTIONS] PID",
          "Write the profile so far of a program that runs on.",
          {"heapprof snapshot 4711                 to heapprof.PROGRAM.4711.snapshot.json",
           "heapprof snapshot -o now.json 4711     to now.json"},
          {"exit status: 0, 1 if there is no snapshot, 2 for wrong usage", "manual: man heapprof-snapshot"}};
}

int snapshot_main(const std::vector<std::string>& arguments) {
  SnapshotOptions target;
  Options options(snapshot_text());
  options.add_text({"-o,--output", "FILE", "output", "write the profile to FILE, replacing it"}, &target.output);
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.quiet);
  options.add_color(&target.color);
  options.add_positional(&target.pid);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? snapshot(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
