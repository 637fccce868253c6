// cli/write/export/speedscope.cc: the importer needs "samples" (stacks of frame numbers) and "weights", of equal
// length. The viewer's first view draws the samples in this order, and merges a frame that neighbours have in common
// into one box; so the samples are sorted. Its table has a row per frame, so a frame here is a function, regardless of
// the line.
#include "cli/model/analysis/label_tree.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/sampling.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/export/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kExactDouble = (uint64_t{1} << 53) - 1;  // the viewer's numbers are doubles

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const Profile& profile, const ExportView& view, ByteSink* sink)
      : profile_(profile), view_(view), tree_(build_label_tree(profile, LabelBy::kFunctionFile)), json_(sink) {
    std::vector<std::string> names;
    for (const uint32_t frame : tree_.frames) names.push_back(frame_label(profile, profile.frames[frame]));
    order_ = nodes_in_order(tree_, names);
  }

  void run() {
    json_.begin_object();
    json_.text("$schema", "https://www.speedscope.app/file-format-schema.json");
    json_.text("exporter", "heapprof " HEAPPROF_VERSION);
    json_.text("name", title());
    json_.count("activeProfileIndex", 0);
    json_.new_line();
    json_.key("shared");
    json_.begin_object();
    write_frames();
    json_.end_object();
    json_.new_line();
    json_.key("profiles");
    json_.begin_array();
    for (const Device& device : profile_.devices) {
      if (!view_.device.empty() && device.name != view_.device) continue;
      for (const auto& [word, metric] : kMetricWords) {
        const bool is_asked = view_.metric ? metric == *view_.metric : has_metric(profile_, metric);
        if (is_asked) write_profile(device, metric, word);
      }
    }
    json_.end_array();
    json_.end_object();
    json_.finish();
  }

 private:
  std::string title() const {
    std::string words;
    for (const std::string& word : profile_.run.command) words += (words.empty() ? "" : " ") + word;
    if (const std::string sampled = sampling_words(profile_); !sampled.empty()) words += " (" + sampled + ")";
    return words.empty() ? "heapprof" : words;
  }

  // The pseudo-frame of sites without a stack comes last.
  void write_frames() {
    json_.key("frames");
    json_.begin_array();
    for (const uint32_t index : tree_.frames) {
      const Frame& frame = profile_.frames[index];
      json_.begin_object();
      json_.text("name", frame_label(profile_, frame));
      if (!frame.file.empty()) json_.text("file", frame.file);
      json_.end_object();
      json_.new_line();
    }
    json_.begin_object();
    json_.text("name", kNoStackText);
    json_.end_object();
    json_.end_array();
  }

  void write_profile(const Device& device, Metric metric, std::string_view word) {
    const std::vector<uint64_t> sums = sum_by_node(tree_, device, metric);
    uint64_t sum = 0;
    json_.new_line();
    json_.begin_object();
    json_.text("type", "sampled");
    json_.text("name", fmt::format("{} {}", device.name, word));
    json_.text("unit", is_in_bytes(metric) ? "bytes" : "none");
    json_.key("samples");
    json_.begin_array();
    std::vector<uint32_t> path;
    for (const uint32_t node : order_) {
      if (sums[node] == 0) continue;
      collect_path(tree_, node, &path);
      if (path.empty()) path.push_back(static_cast<uint32_t>(tree_.frames.size()));
      json_.begin_array();
      for (const uint32_t label : path) json_.number(label);
      json_.end_array();
    }
    json_.end_array();
    json_.new_line();
    json_.key("weights");
    json_.begin_array();
    for (const uint32_t node : order_) {
      if (sums[node] == 0) continue;
      const uint64_t weight = std::min(sums[node], kExactDouble - sum);
      json_.number(weight);
      sum += weight;
    }
    json_.end_array();
    json_.count("startValue", 0);
    json_.count("endValue", sum);
    json_.end_object();
  }

  const Profile& profile_;
  const ExportView& view_;
  LabelTree tree_;
  std::vector<uint32_t> order_;  // of its nodes
  JsonWriter json_;
};

}  // namespace

void write_speedscope(const Profile& profile, const ExportView& view, ByteSink* sink) {
  SpeedscopeWriter(profile, view, sink).run();
}

}  // namespace heapprof::cli
