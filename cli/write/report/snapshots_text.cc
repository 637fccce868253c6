// cli/write/report/snapshots_text.cc: `report --snapshots` for people: first a table, because readers ask when memory
// grew before they ask where. Then, by place, what grew between two snapshots, and what was live at the later one.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/profile/snapshots.h"
#include "cli/write/report/formats.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/place_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kColumnGap = 2;
constexpr size_t kMostSnapshots = 100;   // in the table; if there are more, the first and the last ones
constexpr size_t kNarrowSnapshots = 60;  // columns below which there is no room for blocks
constexpr ptrdiff_t kBlocksColumn = 3;
constexpr size_t kSnapshotTop = 10;  // places
constexpr const char* kHeap = "host";

using SnapshotRow = std::vector<std::string>;

// All columns but the last are right-aligned.
std::string laid_out(const std::vector<SnapshotRow>& rows, size_t columns) {
  std::vector<size_t> widths(rows.front().size());
  for (const SnapshotRow& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const SnapshotRow& row : rows) {
    std::string line;
    for (size_t i = 0; i + 1 < row.size(); ++i) line += pad_left(row[i], widths[i]) + std::string(kColumnGap, ' ');
    const size_t used = display_width(line);
    line += shorten_middle(row.back(), columns > used + 8 ? columns - used : 8);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// What a place had at both snapshots.
struct PlaceGrowth {
  uint32_t place;
  Change bytes;
  uint64_t blocks;  // at the later one
};

class SnapshotsText {
 public:
  SnapshotsText(const Profile& profile, const ReportView& view, const Terminal& terminal)
      : profile_(profile),
        snapshots_(profile.snapshots.snapshots),
        view_(view),
        columns_(static_cast<size_t>(terminal.columns)),
        top_(view.top.value_or(kSnapshotTop)),
        tree_(build_place_tree(profile)),
        names_(profile, tree_) {}

  std::string render() {
    if (!profile_.snapshots.has_any()) return "SNAPSHOTS  none were kept (heapprof run --interval 5s)\n";
    text_ = wrapped(title(), {0, 11, columns_}) + "\n";
    if (snapshots_.empty()) return text_;
    table();
    const auto last = static_cast<uint32_t>(snapshots_.size() - 1);
    const SnapshotPair pair = view_.between.value_or(SnapshotPair{0, last});
    for (const Device& device : profile_.devices) {
      if (!view_.device.empty() && device.name != view_.device) continue;
      if (find_device(snapshots_[pair.base], device.name) == nullptr &&
          find_device(snapshots_[pair.current], device.name) == nullptr)
        continue;
      places(device, pair);
      largest(device, pair.current);
    }
    text_ += tensors_text(profile_, tree_, names_, pair.current, {columns_, view_.exact_bytes, view_.device});
    return text_;
  }

 private:
  std::string bytes(uint64_t value) const {
    return view_.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  }
  std::string change(const Change& change) const {
    return view_.exact_bytes ? format_change_bytes_exact(change) : format_change_bytes(change);
  }

  std::string title() const {
    const Snapshots& all = profile_.snapshots;
    const auto marks = static_cast<uint64_t>(
        std::count_if(snapshots_.begin(), snapshots_.end(), [](const Snapshot& it) { return it.is_mark; }));
    std::string text = "SNAPSHOTS  " + format_counted(snapshots_.size(), "snapshot");
    if (all.interval_ns == kMarksOnly) {
      text += ", at marks";
    } else {
      text += fmt::format(", one every {}", format_duration(all.kept_interval_ns));
      if (all.kept_interval_ns != all.interval_ns)
        text += fmt::format(" (asked for: {})", format_duration(all.interval_ns));
      if (marks != 0) text += fmt::format(", {} of them at marks", format_count(marks));
    }
    if (all.thinned != 0) text += fmt::format(", {} discarded for lack of room", format_count(all.thinned));
    if (all.late != 0) text += fmt::format(", {} not taken in time", format_count(all.late));
    if (all.lost != 0) text += fmt::format(", {} not kept for lack of room", format_count(all.lost));
    return text;
  }

  void table() {
    std::vector<SnapshotRow> rows = {{"#", "at", "live", "blocks", "since the last", ""}};
    std::map<std::string, uint64_t> last;
    size_t hidden = 0;
    for (size_t i = 0; i < snapshots_.size(); ++i) {
      const bool is_shown = i < kMostSnapshots / 2 || i + kMostSnapshots / 2 >= snapshots_.size();
      hidden += is_shown ? 0 : 1;
      bool is_first = true;
      for (const SnapshotDevice& device : snapshots_[i].devices) {
        if (!view_.device.empty() && device.device != view_.device) continue;
        const auto [before, is_new] = last.try_emplace(device.device, 0);
        std::string what = is_first && snapshots_[i].is_mark ? escape_controls(mark_text(snapshots_[i])) : "";
        if (device.device != kHeap) what += (what.empty() ? "" : "  ") + ("on " + escape_controls(device.device));
        if (is_shown)
          rows.push_back({is_first ? fmt::format("{}", i + 1) : "", is_first ? format_time(snapshots_[i].at_ns) : "",
                          bytes(device.live_bytes), format_count(device.live_blocks),
                          is_new ? "" : change({before->second, device.live_bytes}), what});
        before->second = device.live_bytes;
        is_first = false;
      }
    }
    if (columns_ < kNarrowSnapshots) {
      for (SnapshotRow& row : rows) row.erase(row.begin() + kBlocksColumn);
    }
    text_ += laid_out(rows, columns_);
    if (hidden != 0) text_ += fmt::format("and {} between these (--format json)\n", format_counted(hidden, "snapshot"));
  }

  std::string snapshot_name(uint32_t snapshot) const {
    const std::string mark = escape_controls(mark_text(snapshots_[snapshot]));
    return fmt::format("{}{}", snapshot + 1, mark.empty() ? "" : " (" + mark + ")");
  }

  static Change live_change(const Device& device, const Place& place, const SnapshotPair& pair, uint64_t* blocks) {
    Change change{0, 0};
    for (const uint32_t site : place.sites) {
      const std::vector<SiteStep>& steps = device.sites[site].steps;
      const LiveAmount current = amount_at(steps, pair.current);
      change.base = add_saturating(change.base, amount_at(steps, pair.base).bytes);
      change.current = add_saturating(change.current, current.bytes);
      *blocks = add_saturating(*blocks, current.blocks);
    }
    return change;
  }

  void places(const Device& device, const SnapshotPair& pair) {
    const std::vector<Place> places = find_places(profile_, tree_, device);
    std::vector<PlaceGrowth> all;
    Change whole{0, 0};
    for (uint32_t i = 0; i < places.size(); ++i) {
      uint64_t blocks = 0;
      const Change change = live_change(device, places[i], pair, &blocks);
      whole.base = add_saturating(whole.base, change.base);
      whole.current = add_saturating(whole.current, change.current);
      if (change.base != 0 || change.current != 0) all.push_back({i, change, blocks});
    }
    const std::string name = escape_controls(device.name);
    if (pair.base != pair.current) {
      std::vector<PlaceGrowth> changed = all;
      std::erase_if(changed, [](const PlaceGrowth& it) { return it.bytes.amount() == 0; });
      std::stable_sort(changed.begin(), changed.end(),
                       [](const PlaceGrowth& a, const PlaceGrowth& b) { return a.bytes.amount() > b.bytes.amount(); });
      text_ += fmt::format("\nGROWTH {}  from {} to {}: {}, {}\n", name, snapshot_name(pair.base),
                           snapshot_name(pair.current), change(whole), shown_text(changed.size()));
      lines(places, changed, [this](const PlaceGrowth& it) {
        return std::vector<std::string>{change(it.bytes),
                                        fmt::format("{} → {}", bytes(it.bytes.base), bytes(it.bytes.current))};
      });
    }
    std::erase_if(all, [](const PlaceGrowth& it) { return it.bytes.current == 0; });
    std::stable_sort(all.begin(), all.end(),
                     [](const PlaceGrowth& a, const PlaceGrowth& b) { return a.bytes.current > b.bytes.current; });
    text_ += fmt::format("\nLIVE {}  at {}: {}, {}\n", name, snapshot_name(pair.current), bytes(whole.current),
                         shown_text(all.size()));
    lines(places, all, [&](const PlaceGrowth& it) {
      return std::vector<std::string>{bytes(it.bytes.current), format_percent({it.bytes.current, whole.current}),
                                      format_counted(it.blocks, "block")};
    });
  }

  std::string shown_text(size_t count) const {
    if (count <= top_) return format_counted(count, "place");
    return fmt::format("top {} of {}", top_, format_counted(count, "place"));
  }

  template <typename NumbersOf>
  void lines(const std::vector<Place>& places, const std::vector<PlaceGrowth>& ordered, const NumbersOf& numbers_of) {
    std::vector<PlaceLine> lines;
    for (size_t i = 0; i < std::min(ordered.size(), top_); ++i) {
      PlaceLine& line = lines.emplace_back();
      line.numbers = numbers_of(ordered[i]);
      line.function = names_.place_function(places[ordered[i].place]);
      line.location = names_.place_location(places[ordered[i].place]);
    }
    add_lines(lines);
  }

  void add_lines(const std::vector<PlaceLine>& lines) {
    size_t function_column = 0;
    for (const std::string& line : lay_out(names_, lines, 0, columns_, &function_column)) text_ += line + "\n";
  }

  void largest(const Device& device, uint32_t snapshot) {
    const SnapshotDevice* said = find_device(snapshots_[snapshot], device.name);
    if (said == nullptr || said->largest.empty()) return;
    text_ += fmt::format("\nLARGEST BLOCKS {}  at {}\n", escape_controls(device.name), snapshot_name(snapshot));
    std::vector<CallerChain> chains(said->largest.size());
    std::vector<PlaceLine> lines;
    for (size_t i = 0; i < said->largest.size(); ++i) {
      const LargeBlock& block = said->largest[i];
      PlaceLine& line = lines.emplace_back(line_of(profile_, tree_, names_, block.node, &chains[i]));
      line.numbers = {bytes(block.size_bytes), "since " + format_time(block.born_ns)};
    }
    add_lines(lines);
  }

  const Profile& profile_;
  const std::vector<Snapshot>& snapshots_;
  const ReportView& view_;
  size_t columns_;
  size_t top_;
  PlaceTree tree_;
  FrameNames names_;
  std::string text_;
};

}  // namespace

std::string render_snapshots_text(const Profile& profile, const ReportView& view, const Terminal& terminal) {
  const std::string text =
      fitted(SnapshotsText(profile, view, terminal).render(), static_cast<size_t>(terminal.columns));
  return terminal.utf8 ? text : to_ascii(text);
}

}  // namespace heapprof::cli
