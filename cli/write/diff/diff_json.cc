// cli/write/diff/diff_json.cc: a diff for scripts: integers in bytes and blocks, before and after. A metric that one
// profile does not record is left out instead of written as 0.
#include "cli/base/byte_sink.h"
#include "cli/write/diff/diff_words.h"
#include "cli/write/diff/formats.h"
#include "cli/write/diff/names_section.h"
#include "cli/write/diff/scopes_section.h"
#include "cli/write/encode/json_stream.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kMostStacks = 10;  // for each place; a diff of large profiles has a hundred thousand

class DiffWriter {
 public:
  DiffWriter(const DiffView& view, ByteSink* sink) : view_(view), json_(sink) {}

  void write(const TwoProfiles& two) {
    json_.begin_object();
    json_.count("version", 1);
    for (const Side side : kSides) {
      const std::vector<RunTotals>& runs = two.runs[side];
      json_.key(side_name(side));
      write_run(runs[median_run(runs)], runs);
    }
    json_.flag("grew", grew(two, view_));
    const std::vector<MetricRow> rows = metric_rows(two, view_);
    json_.key("devices");
    json_.begin_array();
    for (const DeviceChange& device : two.diff.devices) {
      if (view_.device.empty() || view_.device == device.name) write_device(two, device, rows);
    }
    json_.end_array();
    write_names(two);
    write_scopes(two);
    write_sentences(two);
    json_.end_object();
    json_.finish();
  }

  void write(const TwoSets& two) {
    json_.begin_object();
    json_.count("version", 1);
    for (const Side side : kSides) json_.text(side_name(side), two.folders[side]);
    json_.flag("grew", grew(two, view_));
    json_.key("pairs");
    json_.begin_array();
    for (const RunPair& pair : two.pairing.pairs) write_pair(two, pair);
    json_.end_array();
    write_unpaired("base_only", two.runs[kBase], two.pairing.base_only);
    write_unpaired("current_only", two.runs[kCurrent], two.pairing.current_only);
    json_.end_object();
    json_.finish();
  }

 private:
  static const char* side_name(Side side) { return side == kBase ? "base" : "current"; }

  void write_run(const RunTotals& median, const std::vector<RunTotals>& runs) {
    json_.begin_object();
    json_.text("file", median.file);
    json_.key("files");
    json_.begin_array();
    for (const RunTotals& run : runs) json_.string(run.file);
    json_.end_array();
    json_.key("command");
    json_.begin_array();
    for (const std::string& word : median.command) json_.string(word);
    json_.end_array();
    json_.flag("complete", median.complete);
    json_.flag("peak_is_sum", median.is_merged);
    json_.end_object();
  }

  // Writes base, current, their difference, and the difference in percent of the base unless the base is 0.
  void write_change(const Change& change) {
    json_.count("base", change.base);
    json_.count("current", change.current);
    json_.key("change");
    json_.signed_number(static_cast<int64_t>(change.current - change.base));
    if (change.base == 0) return;
    const double percent = 100.0 * static_cast<double>(change.amount()) / static_cast<double>(change.base);
    json_.key("change_percent");
    json_.real(change.current < change.base ? -percent : percent);
  }

  void write_metrics(const std::vector<MetricRow>& rows, const std::string& device) {
    json_.key("metrics");
    json_.begin_object();
    for (const MetricRow& row : rows) {
      if (row.device != device) continue;
      json_.key(metric_field(row.metric));
      json_.begin_object();
      write_change(row.change);
      if (row.noise.part > 0) json_.count("runs_differ_by", row.noise.part);
      json_.flag("beyond_tolerance", !row.is_within());
      json_.end_object();
    }
    json_.end_object();
  }

  // Writes nothing if neither profile knows any.
  void write_resident(const std::vector<ResidentRow>& rows) {
    if (rows.empty()) return;
    json_.key("resident");
    json_.begin_object();
    for (const ResidentRow& row : rows) {
      json_.key(row.field);
      json_.begin_object();
      if (const std::optional<Change> change = row.change()) {
        write_change(*change);
      } else {
        const Side known = row.bytes[kBase] ? kBase : kCurrent;
        json_.count(side_name(known), *row.bytes[known]);
      }
      json_.end_object();
    }
    json_.end_object();
  }

  void write_device(const TwoProfiles& two, const DeviceChange& device, const std::vector<MetricRow>& rows) {
    json_.new_line();
    json_.begin_object();
    json_.text("name", device.name);
    json_.flag("in_base", device.is_in[kBase]);
    json_.flag("in_current", device.is_in[kCurrent]);
    write_metrics(rows, device.name);
    write_resident(resident_rows(two, device.name));
    const Metric metric = view_.sort.value_or(
        has_metric(*two.profiles[kBase], *two.profiles[kCurrent], Metric::kPeak) ? Metric::kPeak : Metric::kTotal);
    std::vector<uint32_t> order = rank_all_changes(device, metric);
    json_.count("changed_places_count", order.size());
    if (!view_.sort) add_other_changes(device, metric, &order);
    if (view_.top && order.size() > *view_.top) order.resize(*view_.top);
    json_.key("places");
    json_.begin_array();
    for (const uint32_t i : order) write_place(two, device.places[i], metric);
    json_.end_array();
    json_.end_object();
  }

  // Appends the places that changed only in other metrics; with --all, also those that did not change.
  void add_other_changes(const DeviceChange& device, Metric metric, std::vector<uint32_t>* order) const {
    for (uint32_t i = 0; i < device.places.size(); ++i) {
      const PlaceChange& place = device.places[i];
      if (place.change(metric).amount() > 0) continue;
      const bool changed =
          std::any_of(kMetrics.begin(), kMetrics.end(), [&](Metric other) { return place.change(other).amount() > 0; });
      if (changed || view_.all) order->push_back(i);
    }
  }

  void write_numbers(const TwoProfiles& two, const BySide<PlaceNumbers>& numbers) {
    for (const Metric metric : kMetrics) {
      if (!has_metric(*two.profiles[kBase], *two.profiles[kCurrent], metric)) continue;
      json_.key(metric_field(metric));
      json_.begin_object();
      write_change({numbers[kBase].metric(metric), numbers[kCurrent].metric(metric)});
      json_.end_object();
    }
  }

  void write_place(const TwoProfiles& two, const PlaceChange& place, Metric metric) {
    json_.new_line();
    json_.begin_object();
    const Side side = place.frame[kCurrent] != kNoFrame ? kCurrent : kBase;
    if (place.is_by_module) json_.flag("without_names", true);
    if (place.frame[side] != kNoFrame) write_frame(*two.profiles[side], place.frame[side]);
    write_numbers(two, place.numbers);
    const std::vector<uint32_t> order = rank_stacks(place, metric);
    json_.count("stacks_count", place.stacks.size());
    json_.key("stacks");
    json_.begin_array();
    for (size_t i = 0; i < std::min(order.size(), kMostStacks); ++i) write_stack(two, place.stacks[order[i]]);
    json_.end_array();
    json_.end_object();
  }

  // Writes the user's own functions, the innermost first, from the current profile or, if it lacks the stack, from the
  // base.
  void write_stack(const TwoProfiles& two, const MatchedStack& stack) {
    const Side side = stack.is_in[kCurrent] ? kCurrent : kBase;
    const Profile& profile = *two.profiles[side];
    const PlaceTree& tree = two.diff.trees[side];
    json_.begin_object();
    write_numbers(two, stack.numbers);
    json_.key("frames");
    json_.begin_array();
    for (uint32_t node = tree.place_node[stack.node[side]]; node != 0;
         node = tree.user_node[profile.nodes[node].parent]) {
      json_.begin_object();
      write_frame(profile, profile.nodes[node].frame);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write_frame(const Profile& profile, uint32_t index) {
    const Frame& frame = profile.frames[index];
    if (!frame.function.empty()) json_.text("function", frame.function);
    if (!frame.file.empty()) json_.text("file", frame.file);
    if (frame.line > 0) json_.count("line", frame.line);
    if (frame.module < profile.modules.size()) json_.text("module", profile.modules[frame.module].path);
    if (frame.function.empty()) json_.count("address", frame.svma);
  }

  // Writes nothing if no name changed.
  void write_names(const TwoProfiles& two) {
    const NamesSection section = find_name_changes(two, view_, SIZE_MAX);
    if (section.changes.empty()) return;
    json_.key("names");
    json_.begin_array();
    for (size_t i = 0; i < section.shown; ++i) {
      const NameChange& change = section.changes[i];
      json_.new_line();
      json_.begin_object();
      json_.text("device", change.device);
      if (!change.category.empty()) json_.text("category", change.category);
      json_.text("name", change.name);
      json_.text("number", change.is_maximum ? "max_bytes" : "leaked_bytes");
      json_.flag("in_base", change.is_in[kBase]);
      json_.flag("in_current", change.is_in[kCurrent]);
      json_.count("base", change.bytes.base);
      json_.count("current", change.bytes.current);
      json_.end_object();
    }
    json_.end_array();
  }

  // Writes nothing if neither profile has scopes.
  void write_scopes(const TwoProfiles& two) {
    const ScopesDiff& diff = two.diff.scopes;
    const ScopesSection section = find_scopes(two, view_, SIZE_MAX);
    if (diff.scopes.empty() && diff.lost == BySide<uint64_t>{}) return;
    json_.key("scopes");
    json_.begin_object();
    json_.count("base_count", diff.counts[kBase]);
    json_.count("current_count", diff.counts[kCurrent]);
    if (diff.lost[kBase] != 0) json_.count("base_lost_count", diff.lost[kBase]);
    if (diff.lost[kCurrent] != 0) json_.count("current_lost_count", diff.lost[kCurrent]);
    json_.count("changed_count", section.scopes.size());
    json_.key("changes");
    json_.begin_array();
    for (size_t i = 0; i < section.shown; ++i) write_scope(diff, section.scopes[i]);
    json_.end_array();
    json_.end_object();
  }

  void write_scope(const ScopesDiff& diff, const ChangedScope& changed) {
    const ScopeChange& scope = diff.scopes[changed.place];
    json_.new_line();
    json_.begin_object();
    json_.key("path");
    json_.begin_array();
    for (const uint32_t at : scope_path(diff, changed.place)) {
      json_.begin_object();
      if (!diff.scopes[at].category.empty()) json_.text("category", diff.scopes[at].category);
      json_.text("name", diff.scopes[at].name);
      json_.end_object();
    }
    json_.end_array();
    json_.flag("in_base", scope.is_in[kBase]);
    json_.flag("in_current", scope.is_in[kCurrent]);
    json_.key("numbers");
    json_.begin_array();
    for (const ScopeNumber* number : changed.numbers) write_scope_number(*number);
    json_.end_array();
    json_.end_object();
  }

  void write_scope_number(const ScopeNumber& number) {
    json_.begin_object();
    json_.text("number", scope_field_name(number.field));
    if (!number.of.empty()) json_.text(number.field == ScopeField::kCalls ? "call" : "device", number.of);
    for (const Side side : kSides) {
      json_.key(side_name(side));
      json_.signed_number(number.value[side]);
      if (!is_per_run(number.field)) continue;
      json_.key(side == kBase ? "base_per_run" : "current_per_run");
      json_.real(number.runs[side] == 0
                     ? 0
                     : static_cast<double>(number.value[side]) / static_cast<double>(number.runs[side]));
    }
    const auto amount = static_cast<int64_t>(std::min<uint64_t>(number.amount(), INT64_MAX));
    json_.key("change");
    json_.signed_number(number.value[kCurrent] < number.value[kBase] ? -amount : amount);
    json_.end_object();
  }

  void write_sentences(const TwoProfiles& two) {
    const DiffWords words(two, view_);
    json_.key("summary");
    json_.begin_array();
    for (const std::string& sentence : words.sentences(find_sections(two, view_, 1))) json_.string(sentence);
    for (const std::string& remark : words.remarks()) json_.string(remark);
    json_.end_array();
  }

  void write_pair(const TwoSets& two, const RunPair& pair) {
    json_.new_line();
    json_.begin_object();
    for (const Side side : kSides) {
      std::vector<RunTotals> runs;
      for (const size_t i : side == kBase ? pair.base : pair.current) runs.push_back(two.runs[side][i]);
      json_.key(side_name(side));
      write_run(runs[median_run(runs)], runs);
    }
    const std::vector<MetricRow> rows = metric_rows(two, pair, view_, true);
    json_.key("devices");
    json_.begin_array();
    for (auto row = rows.begin(); row != rows.end(); ++row) {
      if (row != rows.begin() && std::prev(row)->device == row->device) continue;
      json_.begin_object();
      json_.text("name", row->device);
      write_metrics(rows, row->device);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write_unpaired(std::string_view name, const std::vector<RunTotals>& runs, const std::vector<size_t>& unpaired) {
    json_.key(name);
    json_.begin_array();
    for (const size_t i : unpaired) json_.string(runs[i].file);
    json_.end_array();
  }

  const DiffView& view_;
  JsonWriter json_;
};

}  // namespace

std::string render_diff_json(const TwoProfiles& two, const DiffView& view, const Terminal&) {
  StringSink sink;
  DiffWriter(view, &sink).write(two);
  return sink.text();
}

std::string render_sets_json(const TwoSets& two, const DiffView& view, const Terminal&) {
  StringSink sink;
  DiffWriter(view, &sink).write(two);
  return sink.text();
}

}  // namespace heapprof::cli
