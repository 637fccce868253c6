// cli/run/summary/headline.cc: a user who profiles `sh -c 'sort big.txt | uniq -c'` wants to know about sort, not about
// the shell's own 2 KiB. The same holds for a compiler driver or make, for a program that starts a daemon and ends, and
// for a program that execs another one.
//
// The peaks of heap and mapped memory are added although they may be at different times. The sum is an upper bound of
// both together, and is computed in the same way for all processes.
#include "cli/run/summary/headline.h"

#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/read/read_profile.h"
#include "cli/run/process_tree_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

namespace heapprof::cli {

namespace {

constexpr size_t kMostCommandBytes = 1024;  // kept for each listed process: a linker's command has a megabyte

// A strict order, so that the result does not depend on the order in which processes ended.
bool is_larger(const SavedProfile& a, const SavedProfile& b) {
  const auto rank = [](const SavedProfile& saved) {
    return std::tuple(largest_peak(saved.peak_bytes, saved.devices), saved.peak_bytes, saved.resident_bytes);
  };
  return rank(a) != rank(b) ? rank(a) > rank(b)
                            : std::tuple(a.entry, a.image, a.pid) < std::tuple(b.entry, b.image, b.pid);
}

std::vector<std::string> first_words(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  size_t bytes = 0;
  for (const std::string& word : command) {
    if (bytes + word.size() > kMostCommandBytes) {
      words.emplace_back("…");
      break;
    }
    bytes += word.size() + 1;
    words.push_back(word);
  }
  return words;
}

}  // namespace

Headline choose_headline(const SavedProfile& root, const std::vector<SavedProfile>& others) {
  Headline headline;
  std::set<uint32_t> entries;
  std::set<uint64_t> beyond_tree;  // by pid
  const SavedProfile* largest = nullptr;
  const SavedProfile* unwritten = nullptr;
  for (const SavedProfile& saved : others) {
    if (saved.entry == ProcessTree::kRoot) {
      ++headline.images;
    } else if (saved.entry == ProcessTree::kNone) {
      beyond_tree.insert(saved.pid);
    } else {
      entries.insert(saved.entry);
    }
    const SavedProfile** best = saved.path.empty() ? &unwritten : &largest;
    if (*best == nullptr || is_larger(saved, **best)) *best = &saved;
  }
  headline.processes += entries.size() + beyond_tree.size();
  const auto peak = [](const SavedProfile& saved) { return largest_peak(saved.peak_bytes, saved.devices); };
  if (largest != nullptr && peak(*largest) > peak(root)) headline.other = *largest;
  const SavedProfile& shown = headline.other ? *headline.other : root;
  headline.is_image = shown.entry == ProcessTree::kRoot && headline.other.has_value();
  headline.is_largest = unwritten == nullptr || peak(*unwritten) <= peak(shown);
  return headline;
}

// The profile is read from its file instead of being kept in memory: while the program runs, memory is only used for
// profiles that are being written.
Result<std::optional<Profile>> read_other(const Headline& headline) {
  if (!headline.other) return std::optional<Profile>();
  Result<Profile> profile = read_profile(headline.other->path);
  if (!profile) return profile.problem();
  return std::optional<Profile>(std::move(*profile));
}

std::string headline_text(const Headline& headline, const SavedProfile& root, size_t columns) {
  if (!headline.other) return "";
  const SavedProfile& shown = *headline.other;
  const auto peak = [](const SavedProfile& saved) {
    const std::string gpu = devices_text(saved.devices);
    return format_bytes(saved.peak_bytes) + (gpu.empty() ? "" : " and " + gpu);
  };
  const std::string name = root.command.empty() ? "the program" : base_name(root.command[0]);
  const std::string short_name = shorten_middle(escape_controls(name), 20);
  std::string which = headline.is_largest ? "the largest" : "the largest that could be written";
  which += headline.is_image ? fmt::format(" of {} programs that process {} was:", headline.images, shown.pid)
                             : fmt::format(" of {} processes:", format_count(headline.processes));
  const std::string pid = headline.is_image ? "" : fmt::format("pid {};", shown.pid);
  const size_t used = display_width(which) + display_width(pid) + 4;
  const size_t room = columns > used + 16 ? columns - used : columns > 20 ? columns - 4 : 16;
  const std::string command = short_command(shown.command, shown.title, std::min<size_t>(room, 60));
  std::string text;
  size_t width = 0;
  for (const std::string& piece : {which, command + (pid.empty() ? ";" : ","), pid,
                                   headline.is_image ? fmt::format("the last, {},", short_name)
                                                     : fmt::format("{}, which was started,", short_name),
                                   fmt::format("peaked at {}:", peak(root)), command_text({root.path})}) {
    if (piece.empty()) continue;
    const bool fits = width + 1 + display_width(piece) <= columns;
    text += (width == 0 ? "" : fits ? " " : "\n  ") + piece;
    width = (width == 0 ? 0 : fits ? width + 1 : 2) + display_width(piece);
  }
  return text + "\n";
}

void keep_processes(const std::vector<SavedProfile>& others, const std::string& root_path, RunInfo* run) {
  std::vector<const SavedProfile*> order;
  for (const SavedProfile& saved : others) order.push_back(&saved);
  const size_t kept = std::min(order.size(), kMostKept);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [](const SavedProfile* a, const SavedProfile* b) { return is_larger(*a, *b); });
  const std::filesystem::path folder = std::filesystem::path(root_path).parent_path();
  for (size_t i = 0; i < kept; ++i) {
    const SavedProfile& saved = *order[i];
    const std::string file =
        saved.path.empty() ? "" : std::filesystem::path(saved.path).lexically_relative(folder.empty() ? "." : folder);
    run->processes.push_back({saved.pid, saved.parent_pid, saved.image, first_words(saved.command),
                              file.empty() ? saved.path : file, saved.peak_bytes, saved.resident_bytes, saved.title});
  }
  run->other_processes_count = order.size() - kept;
}

}  // namespace heapprof::cli
