// cli/write/report/scopes/instances_text.cc: two short lists for each scope, of what users look for: runs that were
// slow, and runs that kept memory. JSON has all recorded runs.
#include "cli/write/report/scopes/instances_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/scope_paths.h"
#include "cli/write/report/scopes/scope_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kMostScopes = 20;
constexpr size_t kTitleRest = 13;  // columns of the line around the path

class InstancesWriter {
 public:
  InstancesWriter(const Scopes& scopes, const InstancesLook& look) : scopes_(scopes), look_(look) {}

  std::string write(const std::string& glob) const {
    const std::vector<uint32_t> meant = find_scopes_meant(scopes_, glob);
    std::string text;
    for (size_t i = 0; i < std::min(meant.size(), kMostScopes); ++i) text += of_scope(meant[i]);
    if (meant.size() > kMostScopes)
      text += fmt::format("\nand {} (--format json)\n", format_counted(meant.size() - kMostScopes, "further scope"));
    return text;
  }

 private:
  std::string bytes(uint64_t value) const {
    return look_.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  }
  std::string growth(int64_t value) const {
    const uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    const Change change = value < 0 ? Change{size, 0} : Change{0, size};
    return look_.exact_bytes ? format_change_bytes_exact(change) : format_change_bytes(change);
  }

  std::string of_scope(uint32_t index) const {
    const Scope& scope = scopes_.scopes[index];
    std::string text =
        fmt::format("INSTANCES  {}: {}",
                    shorten_middle(path_of_scope(scopes_, index), look_.columns - std::min(look_.columns, kTitleRest)),
                    format_counted(scope.begun, "run"));
    if (scope.instances.empty()) {
      text += ", none kept one by one";
    } else if (scope.unkept_instances != 0) {
      text += fmt::format(", {} kept, spread over all; the shortest, the longest and the one that grew most are there",
                          format_count(scope.instances.size()));
    }
    text = "\n" + wrapped(text, {0, 11, look_.columns}) + "\n";
    if (scope.instances.empty()) return text;
    const auto by_time = [&scope](size_t a, size_t b) {
      return scope.instances[a].active_ns > scope.instances[b].active_ns;
    };
    const auto by_growth = [&scope](size_t a, size_t b) {
      return scope.instances[a].growth_bytes > scope.instances[b].growth_bytes;
    };
    std::vector<ScopeRow> rows = {{"start", "took", "grew", "live before", "live after", "thread, longest first"}};
    add_rows(scope, by_time, &rows);
    if (std::any_of(scope.instances.begin(), scope.instances.end(), [](const auto& i) { return i.growth_bytes > 0; })) {
      rows.push_back({"", "", "", "", "", "thread, most grown first"});
      add_rows(scope, by_growth, &rows);
    }
    return text + lay_out_rows(rows, look_.columns);
  }

  template <typename IsBefore>
  void add_rows(const Scope& scope, const IsBefore& is_before, std::vector<ScopeRow>* rows) const {
    std::vector<size_t> order(scope.instances.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t count = std::min(look_.top, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](size_t a, size_t b) { return is_before(a, b) || (!is_before(b, a) && a < b); });
    for (size_t i = 0; i < count; ++i) add_row(scope, order[i], rows);
  }

  // Adds a row with the heap's numbers, and one for each other device that had memory.
  void add_row(const Scope& scope, size_t at, std::vector<ScopeRow>* rows) const {
    const ScopeInstance& instance = scope.instances[at];
    ScopeRow row = {fmt::format("{:.6f} s", static_cast<double>(instance.begin_ns) / 1e9),
                    format_time(instance.active_ns), growth(instance.growth_bytes)};
    std::string before, after;
    std::vector<ScopeRow> others;
    for (const InstanceMemory& memory : scope.instance_memory) {
      const uint64_t was = memory.before_bytes[at], is = memory.after_bytes[at];
      if (memory.device == "host") {
        before = bytes(was);
        after = bytes(is);
      } else if (was != 0 || is != 0) {
        others.push_back({"", "", "", bytes(was), bytes(is), "  on " + escape_controls(memory.device)});
      }
    }
    row.insert(row.end(), {before, after, how(instance)});
    rows->push_back(std::move(row));
    rows->insert(rows->end(), others.begin(), others.end());
  }

  static std::string how(const ScopeInstance& instance) {
    std::string text = fmt::format("{}", instance.thread);
    if ((instance.flags & kInstanceLeft) != 0)
      text += fmt::format(", left {}", format_time(instance.end_ns - instance.begin_ns - instance.active_ns));
    if ((instance.flags & kInstanceLeftOpen) != 0) text += ", no end";
    if ((instance.flags & kInstanceOpen) != 0) text += ", open at the end";
    if ((instance.flags & kInstanceApart) != 0) text += ", apart";
    return text;
  }

  const Scopes& scopes_;
  const InstancesLook& look_;
};

}  // namespace

std::string instances_text(const Profile& profile, const std::string& glob, const InstancesLook& look) {
  return InstancesWriter(profile.scopes, look).write(glob);
}

}  // namespace heapprof::cli
