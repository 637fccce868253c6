// cli/write/report/refusal_text.cc: which refusals are shown in full, and in which order.
//
// If the device had no memory left, the last refusal comes first, because it ended the run. Programs try again with
// less, or after they freed their caches, so the refusals before say little. If a limit (--limit) refused, the first
// refusal comes first, because "came to its limit at" is about that moment.
//
// The holders of the memory at that time are shown by place and not by stack, as everywhere in a report. If the
// requested and the free bytes would be equal when rounded, both are shown to the byte: "2.00 GiB asked for, 2.00 GiB
// free" would look like an error of heapprof.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace heapprof::cli {
namespace {

class RefusalWriter {
 public:
  RefusalWriter(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                const RefusalView& view)
      : profile_(profile), tree_(tree), names_(names), device_(device), view_(view) {}

  std::string write() {
    const std::vector<const Refusal*> order = in_order();
    size_t shown = 0;
    for (const Refusal* refusal : order) {
      if (shown == view_.most_refusals || refusal->size_bytes == 0) break;  // the last entry sums many
      ++shown;
      text_ += sentence(*refusal) + "\n";
      places(*refusal);
    }
    uint64_t others = 0;
    for (size_t i = shown; i < order.size(); ++i) others += order[i]->count;
    if (others != 0)
      text_ +=
          fmt::format("  and {} refused elsewhere {}\n", format_count(others), has_met_limit() ? "after" : "before");
    return text_;
  }

 private:
  bool is_by_limit(const Refusal& refusal) const {
    return refusal.by_limit_count == refusal.count && device_.limit_bytes != 0;
  }

  // True if the limit alone refused. The entry without a stack does not say what refused, and is ignored.
  bool has_met_limit() const {
    return std::all_of(device_.refusals.begin(), device_.refusals.end(),
                       [this](const Refusal& refusal) { return refusal.size_bytes == 0 || is_by_limit(refusal); });
  }

  // The latest first, as in the profile; if the limit alone refused, by the time of the first refusal. An entry without
  // a stack is last.
  std::vector<const Refusal*> in_order() const {
    std::vector<const Refusal*> order;
    for (const Refusal& refusal : device_.refusals) order.push_back(&refusal);
    if (!has_met_limit()) return order;
    std::stable_sort(order.begin(), order.end(), [](const Refusal* a, const Refusal* b) {
      return std::make_tuple(a->size_bytes == 0, a->first_ns) < std::make_tuple(b->size_bytes == 0, b->first_ns);
    });
    return order;
  }

  std::string bytes(uint64_t value) const {
    return view_.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  }

  std::string sentence(const Refusal& refusal) const {
    const std::string event = is_by_limit(refusal) ? fmt::format("came to its limit of {}", bytes(device_.limit_bytes))
                                                   : std::string("ran out of memory");
    std::string moment = moment_text(profile_, has_met_limit() ? refusal.first_ns : refusal.last_ns);
    // The numbers are those of the last refusal of this stack.
    if (has_met_limit() && refusal.count > 1) moment += ", the last time at " + moment_text(profile_, refusal.last_ns);
    std::string asked = bytes(refusal.size_bytes);
    std::string left;
    if (refusal.free_bytes) {
      const bool read_alike = bytes(*refusal.free_bytes) == asked && *refusal.free_bytes != refusal.size_bytes;
      if (read_alike) asked = format_bytes_exact(refusal.size_bytes);
      left =
          fmt::format(", {} free", read_alike ? format_bytes_exact(*refusal.free_bytes) : bytes(*refusal.free_bytes));
    }
    return fmt::format("{} {} at {}: {} asked for{}; the program held {}", escape_controls(device_.name), event, moment,
                       asked, left, bytes(refusal.live_bytes));
  }

  // Sites with the same text are one place, as everywhere.
  std::vector<LiveSite> live_by_place(const Refusal& refusal) const {
    std::map<uint32_t, size_t> index;
    std::vector<LiveSite> places;
    for (const LiveSite& live_site : refusal.live_sites) {
      const uint32_t node = tree_.place_node[live_site.node];
      const uint32_t label = node == 0 ? tree_.labels_count : tree_.labels[profile_.nodes[node].frame];
      const auto [at, is_new] = index.try_emplace(label, places.size());
      if (is_new) {
        places.push_back(live_site);
      } else {
        places[at->second].live_bytes += live_site.live_bytes;
      }
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const LiveSite& a, const LiveSite& b) { return a.live_bytes > b.live_bytes; });
    return places;
  }

  PlaceLine line_at(uint32_t node) { return line_of(profile_, tree_, names_, node, &chains_.emplace_back()); }

  void places(const Refusal& refusal) {
    chains_.clear();
    std::vector<PlaceLine> lines = {line_at(refusal.node)};
    const std::string times = refusal.count == 1 ? "" : fmt::format("{} times", format_count(refusal.count));
    lines[0].numbers = {"asked for", bytes(refusal.size_bytes), times};
    const std::vector<LiveSite> live_sites = live_by_place(refusal);
    for (size_t i = 0; i < std::min(live_sites.size(), view_.most_live_sites); ++i) {
      PlaceLine line = line_at(live_sites[i].node);
      line.numbers = {i == 0 ? "held by" : "", bytes(live_sites[i].live_bytes),
                      format_percent({live_sites[i].live_bytes, refusal.live_bytes})};
      lines.push_back(std::move(line));
    }
    size_t function_column = 0;
    for (const std::string& line : lay_out(names_, lines, 2, view_.columns, &function_column)) text_ += line + "\n";
  }

  const Profile& profile_;
  const PlaceTree& tree_;
  const FrameNames& names_;
  const Device& device_;
  const RefusalView& view_;
  std::deque<CallerChain> chains_;  // the lines point to them
  std::string text_;
};

}  // namespace

std::string refusal_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                         const RefusalView& view) {
  return RefusalWriter(profile, tree, names, device, view).write();
}

}  // namespace heapprof::cli
