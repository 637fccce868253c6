// cli/commands/merge.cc: finds the inputs, adds them one after the other, writes the sum.
#include "cli/commands/merge.h"

#include "cli/base/atomic_file.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/group.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/model/compare/peak_spread.h"
#include "cli/model/profile/invariants.h"
#include "cli/read/profile_files.h"
#include "cli/read/read_profile.h"
#include "cli/write/profile/dhat.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

namespace heapprof::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool quiet = false;
  bool all_sites = false;
  ColorMode color = ColorMode::kAuto;
};

using FileId = std::pair<uint64_t, uint64_t>;  // device and inode
std::optional<FileId> identify(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileId{facts.st_dev, facts.st_ino};
}

Result<std::vector<std::string>> find_inputs(const MergeOptions& options) {
  const std::optional<FileId> output = identify(options.output);
  std::vector<std::string> files;
  std::set<FileId> seen;
  for (const std::string& input : options.inputs) {
    Result<std::vector<std::string>> found =
        is_folder(input) ? profiles_in(input) : Result<std::vector<std::string>>(std::vector<std::string>{input});
    if (!found) return found.problem();
    // A merge that is repeated must not count its own result.
    if (is_folder(input))
      std::erase_if(*found, [&](const std::string& file) { return output && identify(file) == output; });
    if (found->empty()) return folder_without_profiles(input);
    for (const std::string& file : *found) {
      const std::optional<FileId> id = identify(file);
      if (id && id == output) return bad_value("-o", options.output, "a file that is not merged into itself");
      if (id && !seen.insert(*id).second) return profile_named_twice(file);
      files.push_back(file);
    }
  }
  return files;
}

Result<Profile> merge_files(const std::vector<std::string>& files, uint64_t* left_out) {
  ProfileMerger merger;
  for (const std::string& file : files) {
    Result<Profile> profile = read_profile(file);
    if (!profile) return profile.problem();
    *left_out += profile->snapshots.snapshots.size();
    if (const Result<Done> added = merger.add(std::move(*profile), file); !added) return added.problem();
  }
  return merger.take();
}

Result<std::string> write(const Profile& profile, const std::string& path) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.problem();
  write_dhat(profile, &*file);
  return file->commit();
}

void say(const Profile& profile, size_t inputs, const std::string& path) {
  const Terminal terminal = inspect_terminal(STDERR_FILENO, ColorMode::kAuto);
  const auto fit = [&terminal](const std::string& line) {
    return terminal.is_fitted ? fitted(line, static_cast<size_t>(terminal.columns)) : line;
  };
  for (const Device& device : profile.devices) {
    if (!profile.has_lifetimes) continue;
    const PeakSpread spread = find_peak_spread(profile, device.name);
    const std::string line = fmt::format(
        "{}  peaks of {}: {} to {}, median {}, sum {}; {} {}\n", pad_right(escape_controls(device.name), 5),
        format_counted(spread.parts, "profile"), format_bytes(spread.smallest_bytes),
        format_bytes(spread.largest_bytes), format_bytes(spread.median_bytes), format_bytes(device.totals.peak_bytes),
        live_word(profile), format_bytes(device.totals.leaked_bytes));
    fmt::print(stderr, "{}", fit(line));
  }
  const std::string shown = pasted_file(path, terminal.utf8);
  fmt::print(stderr, "saved  {}  {}\nnext   heapprof report {}\n", shown, format_counted(inputs, "profile"), shown);
}

Result<int> merge(const MergeOptions& options) {
  if (options.inputs.empty()) return nothing_to_merge();
  if (options.output.empty()) return output_not_named("merge");
  const Result<std::vector<std::string>> files = find_inputs(options);
  if (!files) return files.problem();
  uint64_t left_out = 0;  // snapshots
  Result<Profile> profile = merge_files(*files, &left_out);
  if (!profile) return profile.problem();
  if (!options.all_sites) group_small_sites(&*profile, {});
  if (const std::vector<std::string> violations = find_violations(*profile); !violations.empty())
    return numbers_disagree(violations[0]);
  const Result<std::string> path = write(*profile, options.output);
  if (!path) return path.problem();
  if (!options.quiet) say(*profile, files->size(), *path);
  if (left_out != 0) print_problem(snapshots_not_merged(left_out), options.color);
  return 0;
}

}  // namespace

CommandText merge_text() {
  return {"merge",
          "heapprof merge -o OUT [OPTIONS] FILE...",
          "Add profiles up by site: of processes, ranks, runs.",
          {"heapprof merge -o all.json rank*.json     the ranks of a job",
           "heapprof merge -o all.json profiles/      all *.json and *.json.gz in a folder",
           "heapprof report all.json                  the sums, and whose peak stands out"},
          {"exit status: 0, 1 if OUT cannot be written, 2 for wrong usage or profiles",
           "that do not add up, 3 if one is no profile or damaged", "manual: man heapprof-merge"}};
}

int merge_main(const std::vector<std::string>& arguments) {
  MergeOptions target;
  Options options(merge_text());
  options.add_text({"-o,--output", "OUT", "output", "write the sum to OUT, replacing it"}, &target.output);
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.quiet);
  options.add_flag({"--all-sites", "", "output", "write small sites one by one, not in groups"}, &target.all_sites);
  options.add_color(&target.color);
  options.add_positionals(&target.inputs);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? merge(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
