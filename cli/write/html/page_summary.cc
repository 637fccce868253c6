// cli/write/html/page_summary.cc: numbers are written as numbers, and the page formats them; sentences are the
// report's.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/findings.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/device_facts.h"
#include "cli/model/profile/site_numbers.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/html/page_parts.h"
#include "cli/write/report/conclusion.h"
#include "cli/write/report/device_choice.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/place_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heapprof::cli {
namespace {

class SideSummary {
 public:
  SideSummary(const PageSide& side, JsonWriter* json)
      : side_(side),
        profile_(*side.profile),
        json_(*json),
        tree_(build_place_tree(profile_)),
        names_(profile_, tree_) {}

  void write() {
    json_.begin_object();
    json_.text("file", side_.file);
    write_run();
    json_.count("largest_device", largest_device());
    json_.flag("all_frames", side_.all_frames);
    json_.text("sentence", sentence());
    write_metrics();
    write_devices();
    write_findings();
    write_warnings();
    write_threads();
    write_processes();
    json_.count("hidden_frames", count_hidden_frames(tree_));
    json_.texts("folded", find_folded_names(profile_));
    json_.end_object();
  }

 private:
  bool is_ours() const { return profile_.dialect == Dialect::kHeapprof; }

  void write_run() {
    const RunInfo& run = profile_.run;
    json_.text("tool", is_ours() ? "heapprof" : profile_.dialect == Dialect::kValgrind ? "valgrind" : "dhat-rs");
    json_.text("command", command_text(run.command, run.title));
    json_.count("pid", run.pid);
    json_.text("started", is_ours() ? start_text(run.start_unix_ns) : "");
    json_.count("duration", run.duration_ns);
    json_.text("time_unit", profile_.time_unit);
    json_.text("end", is_ours() ? end_text(run.end) : "");
    json_.text("live_word", live_word(profile_));
    json_.flag("has_lifetimes", profile_.has_lifetimes);
    json_.count("runs", std::max<size_t>(profile_.merged.size(), 1));
    json_.text("incomplete_reason", run.incomplete_reason);
    json_.count("lost_events", run.counters.lost);
    json_.count("truncated_stacks", run.counters.truncated_stacks);
    json_.count("allocations", run.counters.allocations);
    json_.count("frees", run.counters.frees);
    json_.text("machine", run.machine.cpu.empty() ? "" : fmt::format("{}, {}", run.machine.cpu, run.machine.kernel));
    json_.text("allocator", run.coverage.allocator);
  }

  Metric main_metric() const { return profile_.has_lifetimes ? Metric::kPeak : Metric::kTotal; }
  uint64_t weight(const Device& device) const { return device.totals.*site_field_of(main_metric()).total; }

  // The device with the highest peak, without devices that are part of another.
  size_t largest_device() const {
    size_t largest = 0;
    for (size_t i = 1; i < profile_.devices.size(); ++i) {
      const Device& device = profile_.devices[i];
      if (is_reserved_device(device.name) || is_inner_device(device.name)) continue;
      if (weight(device) > weight(profile_.devices[largest])) largest = i;
    }
    return largest;
  }

  // "host peaked at 1.92 GiB at 18.204 s; 63.0 % of it is build_index (src/index.cc:212)"
  std::string sentence() const {
    const Device& largest = profile_.devices[largest_device()];
    const uint64_t most = weight(largest);
    if (most == 0) return "nothing was allocated";
    const std::string device = escape_controls(largest.name);
    const Metric metric = main_metric();
    std::string text = metric != Metric::kPeak    ? fmt::format("{} allocated {}", device, format_bytes(most))
                       : !profile_.merged.empty() ? fmt::format("on {} the peaks add to {}", device, format_bytes(most))
                                                  : fmt::format("{} peaked at {} at {}", device, format_bytes(most),
                                                                moment_text(profile_, largest.totals.peak_ns));
    const std::vector<Place> places = find_places(profile_, tree_, largest);
    const std::vector<uint32_t> order = rank_own_places(places, metric);
    if (order.empty()) return text;
    const Place& place = places[order[0]];
    const std::string where = names_.place_location(place);
    text += fmt::format("; {} of it is {}", format_percent({place.numbers.metric(metric), most}),
                        names_.place_function(place));
    return where.empty() ? text : text + fmt::format(" ({})", where);
  }

  void write_metrics() {
    std::vector<std::string> words;
    for (const Metric metric : kMetrics) {
      if (has_metric(profile_, metric)) words.emplace_back(metric_word(metric));
    }
    json_.texts("metrics", words);
  }

  void write_devices() {
    const DeviceChoice choice = choose_devices(profile_);
    json_.key("devices");
    json_.begin_array();
    for (const Device& device : profile_.devices) {
      const DeviceTotals& totals = device.totals;
      const PlaceNumbers sum = sum_of_sites(device);
      json_.begin_object();
      json_.text("name", device.name);
      json_.text("product", device.identity.product);
      json_.flag("is_shown", std::find(choice.shown.begin(), choice.shown.end(), &device) != choice.shown.end());
      json_.flag("is_inside", is_inner_device(device.name));
      json_.count("peak_bytes", totals.peak_bytes);
      json_.count("peak_blocks", totals.peak_blocks);
      json_.count("peak_at", totals.peak_ns);
      json_.count("total_bytes", totals.total_bytes);
      json_.count("total_blocks", totals.total_blocks);
      json_.count("leaked_bytes", sum.leaked_bytes);
      json_.count("leaked_blocks", sum.leaked_blocks);
      json_.count("suppressed_bytes", sum.suppressed_bytes);
      json_.count("suppressed_blocks", sum.suppressed_blocks);
      json_.count("temporary_blocks", totals.temporary_blocks);
      json_.count("limit_bytes", device.limit_bytes);
      json_.count("refusals", device.refusals.size());
      json_.count("resident_max_bytes", totals.resident_max_bytes);
      json_.count("live_at_resident_max_bytes", totals.live_at_resident_max_bytes);
      json_.count("mapped_at_resident_max_bytes", totals.mapped_at_resident_max_bytes);
      if (device.fragmentation.is_worth_a_line()) {
        json_.count("unused_resident_bytes", device.fragmentation.unused_bytes());
        json_.count("unused_from", device.fragmentation.from_ns);
      }
      if (device.untouched.is_worth_a_line()) {
        json_.count("untouched_bytes", device.untouched.untouched_bytes);
        json_.count("untouched_at", device.untouched.seen_ns);
      }
      json_.count("bucket", fitted_timeline(device.timeline).bucket_ns);
      write_sizes(sum);
      json_.end_object();
      json_.new_line();
    }
    json_.end_array();
  }

  // For each size class with blocks: its least and largest size (0: no limit), and the number of its blocks.
  void write_sizes(const PlaceNumbers& sum) {
    json_.key("sizes");
    json_.begin_array();
    for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
      if (sum.sizes[bucket] == 0) continue;
      json_.begin_array();
      json_.number(size_bucket_least(bucket, profile_.has_coarse_sizes));
      json_.number(size_bucket_most(bucket).value_or(0));
      json_.number(sum.sizes[bucket]);
      json_.end_array();
    }
    json_.end_array();
  }

  void write_findings() {
    constexpr size_t kNameColumns = 120;
    const Conclusion conclusion(profile_, tree_);
    json_.key("conclusion");
    json_.begin_array();
    for (const auto& [label, sentence] : conclusion.lines(kNameColumns)) {
      json_.begin_object();
      json_.text("label", label);
      json_.text("sentence", sentence);
      json_.end_object();
    }
    json_.end_array();
    json_.key("findings");
    json_.begin_array();
    ReportView view;
    for (const Finding& finding : conclusion.findings()) {
      json_.begin_object();
      json_.text("kind", finding_name(finding.kind));
      json_.count("device", finding.device);
      json_.text("function", finding.has_frame ? names_.function(finding.frame) : "");
      json_.text("location",
                 finding.has_frame ? names_.location(finding.frame) + other_lines_text(profile_, finding) : "");
      json_.text("head", finding_head(finding, view));
      json_.text("detail", finding_detail(profile_, finding, names_, view));
      json_.text("remedy", finding_remedy(profile_, finding));
      json_.text("share", share_text(profile_, finding));
      json_.end_object();
      json_.new_line();
    }
    json_.end_array();
  }

  void write_warnings() {
    json_.key("warnings");
    json_.begin_array();
    for (const Problem& warning : side_.warnings) {
      json_.begin_object();
      json_.text("id", warning.id);
      json_.text("what", warning.what);
      json_.text("fix", warning.fix);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_thread(const Thread& thread, std::string_view name) {
    json_.begin_object();
    json_.count("id", thread.id);
    json_.text("name", name);
    json_.count("allocations", thread.allocations);
    json_.count("total_bytes", thread.total_bytes);
    json_.count("frees", thread.frees);
    json_.end_object();
  }

  void write_threads() {
    const RunInfo& run = profile_.run;
    json_.count("threads_count", count_threads(run));
    json_.key("threads");
    json_.begin_array();
    for (const Thread& thread : run.threads) write_thread(thread, thread.name);
    if (run.other_threads_count != 0)
      write_thread(run.other_threads, format_counted(run.other_threads_count, "other thread"));
    json_.end_array();
  }

  void write_processes() {
    json_.key("processes");
    json_.begin_array();
    for (const OtherProcess& process : profile_.run.processes) {
      json_.begin_object();
      json_.count("pid", process.pid);
      json_.count("parent_pid", process.parent_pid);
      json_.count("image", process.image);
      json_.text("command", command_text(process.command, process.title));
      json_.text("file", process.file);
      json_.count("memory_peak_bytes", process.memory_peak_bytes);
      json_.count("resident_max_bytes", process.resident_max_bytes);
      json_.end_object();
    }
    json_.end_array();
    json_.count("other_processes", profile_.run.other_processes_count);
  }

  const PageSide& side_;
  const Profile& profile_;
  JsonWriter& json_;
  PlaceTree tree_;
  FrameNames names_;
};

}  // namespace

void write_page_summary(std::span<const PageSide> sides, const TwoProfiles* two, const DiffView& view, ByteSink* sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.text("version", HEAPPROF_VERSION);
  json.key("sides");
  json.begin_array();
  for (const PageSide& side : sides) SideSummary(side, &json).write();
  json.end_array();
  if (two != nullptr) write_diff_summary(*two, view, &json);
  json.end_object();
  json.finish();
}

}  // namespace heapprof::cli
