// cli/write/export/sites.cc: the part that all lines of a site share is made once, because a stack of some dozen frames
// is most of a line. The part that all lines of the file share is at their end.
#include "cli/base/text.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/fields.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/export/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heapprof::cli {
namespace {

// escape_controls() escapes control characters, so only quotes and backslashes remain to be escaped.
std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : escape_controls(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

uint64_t blocks_of(const SiteNumbers& numbers, Metric metric) {
  switch (metric) {
    case Metric::kPeak: return numbers.peak_blocks;
    case Metric::kLeaked: return numbers.leaked_blocks;
    case Metric::kTemporary: return numbers.temporary_blocks;
    case Metric::kTotal:
    case Metric::kAllocations: return numbers.total_blocks;
  }
  return 0;
}

class SitesWriter {
 public:
  SitesWriter(const Profile& profile, const ExportView& view, ByteSink* sink)
      : profile_(profile), view_(view), sink_(sink), tree_(build_place_tree(profile)) {}

  void run() {
    for (const auto& [word, metric] : kMetricWords) {
      if (view_.metric ? metric == *view_.metric : has_metric(profile_, metric)) metrics_.emplace_back(word, metric);
    }
    for (const Frame& frame : profile_.frames) shown_.push_back(json_text(shown(frame)));
    end_ = end_of_lines();
    for (const Device* device : exported_devices(profile_, view_)) {
      const std::string start = "{\"device\":" + json_text(device->name);
      for (const Site& site : device->sites) write_site(start, site);
    }
  }

 private:
  using NamedMetric = std::pair<const char*, Metric>;

  std::string shown(const Frame& frame) const {
    const std::string label = frame_label(profile_, frame);
    if (frame.file.empty()) return label;
    return frame.line == 0 ? fmt::format("{} ({})", label, frame.file)
                           : fmt::format("{} ({}:{})", label, frame.file, frame.line);
  }

  // ,"function":…,"file":…,"line":…,"module":… with `prefix` before each name.
  std::string frame_columns(const char* prefix, uint32_t node) const {
    if (node == 0)
      return fmt::format(",\"{0}function\":{1},\"{0}file\":null,\"{0}line\":null,\"{0}module\":null", prefix,
                         json_text(kNoStackText));
    const Frame& frame = profile_.frames[profile_.nodes[node].frame];
    return fmt::format(
        ",\"{0}function\":{1},\"{0}file\":{2},\"{0}line\":{3},\"{0}module\":{4}", prefix,
        json_text(frame_label(profile_, frame)), frame.file.empty() ? "null" : json_text(frame.file),
        frame.line == 0 ? "null" : std::to_string(frame.line),
        frame.module < profile_.modules.size() ? json_text(profile_.modules[frame.module].path) : "null");
  }

  std::string end_of_lines() const {
    const RunInfo& run = profile_.run;
    std::string command;
    for (const std::string& word : run.command) command += (command.empty() ? "" : " ") + word;
    return fmt::format(
        ",\"run_command\":{},\"run_pid\":{},\"run_image\":{},\"run_start_unix_ns\":{},\"run_end\":{},"
        "\"run_status\":{},\"run_complete\":{},\"run_sample_interval_bytes\":{}}}\n",
        json_text(command), run.pid, run.image, run.start_unix_ns, json_text(end_kind_name(run.end.kind)),
        run.end.status, run.complete, run.sampling.interval_bytes);
  }

  void write_site(const std::string& start, const Site& site) {
    const auto has_none = [&](const NamedMetric& it) {
      return site.numbers.*metric_field_of(it.second).number == 0 && blocks_of(site.numbers, it.second) == 0;
    };
    if (std::all_of(metrics_.begin(), metrics_.end(), has_none)) return;
    const std::string common = site_columns(site);
    for (const NamedMetric& it : metrics_) {
      if (has_none(it)) continue;
      const MetricField& field = metric_field_of(it.second);
      line_.clear();
      fmt::format_to(std::back_inserter(line_), "{},\"metric\":\"{}\",\"unit\":\"{}\",\"value\":{},\"blocks\":{}",
                     start, it.first, field.unit == MetricField::Unit::kBytes ? "bytes" : "blocks",
                     site.numbers.*field.number, blocks_of(site.numbers, it.second));
      line_ += common;
      line_ += end_;
      sink_->write(line_);
    }
  }

  std::string site_columns(const Site& site) {
    std::string text = frame_columns("", site.node);
    text += frame_columns("place_", site.node == 0 ? 0 : tree_.place_node[site.node]);
    path_.clear();
    for (uint32_t node = site.node; node != 0; node = profile_.nodes[node].parent)
      path_.push_back(profile_.nodes[node].frame);
    text += ",\"stack\":[";
    for (size_t i = path_.size(); i-- > 0;) {
      text += shown_[path_[i]];
      if (i != 0) text += ',';
    }
    text += fmt::format("],\"truncated\":{},\"summed_stacks\":{}", site.truncated, site.grouped_stacks);
    return text;
  }

  const Profile& profile_;
  const ExportView& view_;
  ByteSink* sink_;
  PlaceTree tree_;
  std::vector<NamedMetric> metrics_;
  std::vector<std::string> shown_;  // by frame, as JSON
  std::string end_;                 // of every line
  std::string line_;
  std::vector<uint32_t> path_;
};

}  // namespace

void write_sites(const Profile& profile, const ExportView& view, ByteSink* sink) {
  SitesWriter(profile, view, sink).run();
}

}  // namespace heapprof::cli
