// cli/write/report/report_json.cc: the report for scripts.
//
// Names end in _bytes, _ns and _count, and a field that the profile does not have is left out instead of written as 0.
#include "cli/base/byte_sink.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/packages.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/model/compare/peak_spread.h"
#include "cli/model/profile/fields.h"
#include "cli/write/encode/frame_json.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/encode/scopes_json.h"
#include "cli/write/report/formats.h"
#include "cli/write/report/json_parts.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/report/scopes/critical_path_text.h"
#include "cli/write/report/scopes/scope_sections.h"
#include "cli/write/text/place_text.h"
#include "cli/write/text/run_text.h"

namespace heapprof::cli {
namespace {

class ReportWriter {
 public:
  ReportWriter(const Profile& profile, const ReportView& view, ByteSink* sink)
      : profile_(profile), view_(view), tree_(build_place_tree(profile)), json_(sink) {}

  void write() {
    json_.begin_object();
    json_.count("version", 1);
    json_.text("tool", profile_.dialect == Dialect::kHeapprof   ? "heapprof"
                       : profile_.dialect == Dialect::kValgrind ? "valgrind"
                                                                : "dhat-rs");
    write_run();
    if (!profile_.merged.empty()) write_inputs(profile_, &json_);
    if (!profile_.run.processes.empty()) write_processes();
    if (count_threads(profile_.run) != 0) write_threads();
    json_.texts("folded", find_folded_names(profile_, tree_, shown_devices(profile_, view_)));
    json_.key("devices");
    json_.begin_array();
    for (const Device* device : shown_devices(profile_, view_)) write_device(*device);
    json_.end_array();
    const DeviceApi& api = profile_.api;
    const InstanceLayout layout = is_about_scopes(view_) ? InstanceLayout::kObjects : InstanceLayout::kNone;
    if (view_.device.empty() && !profile_.scopes.empty()) write_scopes(profile_.scopes, layout, &json_);
    if (view_.device.empty() && is_about_scopes(view_)) write_scope_sums(profile_.scopes, view_.categories, &json_);
    if (view_.critical_path) write_critical_path(profile_.scopes, &json_);
    if (view_.device.empty() && (!api.calls.empty() || api.kernel_launches != 0)) write_api(api);
    json_.end_object();
    json_.finish();
  }

 private:
  bool is_ours() const { return profile_.dialect == Dialect::kHeapprof; }
  // Profiles of other tools may have another unit of time; then the field's name has no "_ns".
  void time(const std::string& name, uint64_t value) {
    json_.count(profile_.time_unit == "ns" ? name + "_ns" : name, value);
  }

  void write_run() {
    const RunInfo& run = profile_.run;
    json_.key("command");
    json_.begin_array();
    for (const std::string& word : run.command) json_.string(word);
    json_.end_array();
    if (!run.title.empty()) json_.text("title", run.title);
    json_.count("pid", run.pid);
    if (profile_.time_unit != "ns") json_.text("time_unit", profile_.time_unit);
    time("duration", run.duration_ns);
    if (!is_ours()) return;
    json_.key("start_unix_ns");
    json_.signed_number(run.start_unix_ns);
    json_.text("end", end_text(run.end));
    json_.key("complete");
    json_.boolean(run.complete);
    json_.count("lost_events_count", run.counters.lost);
    json_.count("truncated_stacks_count", run.counters.truncated_stacks);
    if (run.sampling.has_any()) write_sampling();
    if (run.leak_check.is_asked) write_leak_check();
  }

  // The members have the profile's names, except for resident memory.
  void write_processes() {
    write_objects("processes", profile_.run.processes, [&](const OtherProcess& process) {
      json_.count("pid", process.pid);
      json_.count("parent_pid", process.parent_pid);
      json_.count("image", process.image);
      json_.key("command");
      json_.begin_array();
      for (const std::string& word : process.command) json_.string(word);
      json_.end_array();
      if (!process.title.empty()) json_.text("title", process.title);
      if (!process.file.empty()) json_.text("file", process.file);
      json_.count("memory_peak_bytes", process.memory_peak_bytes);
      if (process.resident_max_bytes != 0) json_.count("resident_max_bytes", process.resident_max_bytes);
    });
    json_.count("other_processes_count", profile_.run.other_processes_count);
  }

  void write_device(const Device& device) {
    const DeviceTotals& totals = device.totals;
    json_.new_line();
    json_.begin_object();
    json_.text("name", device.name);
    if (const PeakSpread spread = find_peak_spread(profile_, device.name); spread.parts > 0) {
      json_.key("peak_is_sum");
      json_.boolean(true);
      json_.count("largest_peak_bytes", spread.largest_bytes);
      json_.count("median_peak_bytes", spread.median_bytes);
      json_.count("smallest_peak_bytes", spread.smallest_bytes);
    }
    for (const SiteField* field : reported_numbers(profile_)) {
      if (field->total == nullptr) continue;
      json_.count(field->report, totals.*field->total);
      if (field->total == &DeviceTotals::peak_blocks) time("peak", totals.peak_ns);
      if (field->total == &DeviceTotals::leaked_blocks) write_suppressed(sum_of_sites(device));
    }
    if (&device == &profile_.devices[0]) write_judged(sum_of_sites(device));
    if (totals.resident_at_peak_bytes > 0) json_.count("resident_at_peak_bytes", totals.resident_at_peak_bytes);
    write_driver_facts(device);
    if (has_resident_parts(totals)) {
      json_.count("resident_max_bytes", totals.resident_max_bytes);
      json_.count("live_at_resident_max_bytes", totals.live_at_resident_max_bytes);
      json_.count("mapped_at_resident_max_bytes", totals.mapped_at_resident_max_bytes);
    }
    const std::vector<Place> places = find_places(profile_, tree_, device);
    write_packages(device);
    json_.count("places_count", places.size());
    json_.key("places");
    json_.begin_array();
    const Metric metric = view_.sort.value_or(profile_.has_lifetimes ? Metric::kPeak : Metric::kTotal);
    for (const uint32_t index : ordered_places(profile_, view_, places)) write_place(device, places[index], metric);
    json_.end_array();
    if (view_.list_suppressions) write_rules(device);
    json_.end_object();
  }

  // Writes nothing unless there are several packages.
  void write_packages(const Device& device) {
    const std::vector<Package> packages = find_packages(profile_, tree_, device, Metric::kPeak);
    if (packages.empty()) return;
    write_objects("packages", packages, [&](const Package& package) {
      json_.text("name", package.name);
      for (const SiteField* field : reported_numbers(profile_)) {
        if (field->total == nullptr) continue;
        if (const std::optional<uint64_t> number = reported_number(package.numbers, *field))
          json_.count(field->report, *number);
      }
    });
  }

  // Writes fields under the names that they have in the profile.
  auto field_writer() {
    return [this](std::string_view name, const auto& value) {
      using Value = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<Value, std::optional<uint64_t>>) {
        if (value) json_.count(name, *value);
      } else {
        json_.key(name);
        if constexpr (std::is_same_v<Value, bool>) {
          json_.boolean(value);
        } else if constexpr (std::is_same_v<Value, std::string>) {
          json_.string(value);
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          json_.begin_array();
          for (const std::string& text : value) json_.string(text);
          json_.end_array();
        } else if constexpr (std::is_same_v<Value, HolderKind>) {
          json_.string(holder_kind_name(value));
        } else {
          json_.number(value);
        }
      }
    };
  }
  template <typename WriteMembers>
  void write_object(const char* name, WriteMembers&& write_members) {
    json_.key(name);
    json_.begin_object();
    write_members();
    json_.end_object();
  }
  template <typename Elements, typename WriteMembers>
  void write_objects(const char* name, const Elements& elements, WriteMembers&& write_members) {
    json_.key(name);
    json_.begin_array();
    for (const auto& element : elements) {
      json_.new_line();
      json_.begin_object();
      write_members(element);
      json_.end_object();
    }
    json_.end_array();
  }
  // The members have the profile's names.
  void write_threads() {
    const auto field = field_writer();
    write_objects("threads", profile_.run.threads, [&](const Thread& thread) { visit_thread(thread, field); });
    if (profile_.run.other_threads_count == 0) return;
    json_.count("other_threads_count", profile_.run.other_threads_count);
    write_object("other_threads", [&] {
      json_.count("allocations_count", profile_.run.other_threads.allocations);
      json_.count("total_bytes", profile_.run.other_threads.total_bytes);
      json_.count("frees_count", profile_.run.other_threads.frees);
    });
  }

  // Writes the place of the stack whose innermost node is `node`.
  void write_place_of(uint32_t node) {
    const uint32_t place = node == 0 ? 0 : tree_.place_node[node];
    if (place != 0) write_frame(profile_, profile_.nodes[place].frame, &json_);
  }

  void write_sampling() {
    const auto field = field_writer();
    write_object("sampling", [&] { visit_sampling(profile_.run.sampling, field); });
  }

  void write_leak_check() {
    const auto field = field_writer();
    write_object("leak_check", [&] { visit_leak_check(profile_.run.leak_check, field); });
  }

  void write_driver_facts(const Device& device) {
    const auto field = field_writer();
    if (!device.identity.uuid.empty() || !device.identity.product.empty())
      write_object("identity", [&] { visit_identity(device.identity, field); });
    if (device.limit_bytes != 0) json_.count("limit_bytes", device.limit_bytes);
    if (has_any(device.held)) write_object("held", [&] { visit_held(device.held, field); });
    if (has_any(device.use)) write_object("use", [&] { visit_use(device.use, field); });
    if (device.unseen.has_any()) write_unseen(device.unseen);
    if (device.segments.has_any()) write_object("segments", [&] { write_segments(device.segments); });
    if (!device.names.empty()) write_names(device);
    if (!device.lost_owners.empty()) write_lost_owners(device);
    if (!device.held_by.empty()) write_held_by(device);
    if (device.fragmentation.has_any())
      write_object("fragmentation", [&] {
        visit_fragmentation(device.fragmentation, field);
        write_blocks_of(device.fragmentation.pinning);
      });
    if (device.untouched.has_any())
      write_object("untouched", [&] {
        visit_untouched(device.untouched, field);
        write_objects("blocks_of", device.untouched.parts, [&](const UntouchedPart& part) {
          write_place_of(part.node);
          visit_untouched_part(part, field);
        });
      });
    if (device.refusals.empty()) return;
    write_objects("refusals", device.refusals, [&](const Refusal& refusal) {
      write_place_of(refusal.node);
      visit_refusal(refusal, field);
      write_objects("holders", refusal.live_sites, [&](const LiveSite& live_site) {
        write_place_of(live_site.node);
        visit_live_site(live_site, field);
      });
    });
  }

  void write_segments(const SegmentsUse& segments) {
    const auto field = field_writer();
    for (const auto& [key, moment] : {std::pair("at_peak", &segments.at_peak),
                                      {"at_end", &segments.at_end},
                                      {"at_refusal", &segments.at_refusal}}) {
      if (moment == &segments.at_refusal && !segments.has_refusal()) continue;
      write_object(key, [&, at = moment] {
        visit_segments_moment(*at, field);
        write_objects("segments", at->segments, [&](const SegmentUse& use) { visit_segment(use, field); });
      });
    }
  }

  void write_blocks_of(const std::vector<OwnerPart>& parts) {
    write_objects("blocks_of", parts, [&](const OwnerPart& part) {
      write_place_of(part.node);
      visit_owner_part(part, field_writer());
    });
  }

  void write_lost_owners(const Device& device) {
    write_objects("lost_owners", device.lost_owners, [&](const LostOwners& owners) {
      visit_lost_owners(owners, field_writer());
      write_blocks_of(owners.parts);
    });
  }

  void write_held_by(const Device& device) {
    write_objects("held_by", device.held_by, [&](const Holder& holder) {
      visit_holder(holder, field_writer());
      write_blocks_of(holder.parts);
    });
  }

  void write_names(const Device& device) {
    const auto field = field_writer();
    write_objects("names", device.names, [&](const NamedMemory& named) {
      visit_named(named, field);
      write_objects("sites", named.sites, [&](const NamedSite& site) {
        write_place_of(site.node);
        visit_named_site(site, field);
      });
    });
  }

  void write_api(const DeviceApi& api) {
    const auto field = field_writer();
    write_object("device_api", [&] {
      json_.count("kernel_launches_count", api.kernel_launches);
      write_objects("calls", api.calls, [&](const ApiCall& call) {
        write_place_of(call.node);
        visit_api_call(call, field);
      });
      write_objects("threads", api.threads, [&](const ApiThread& thread) { visit_api_thread(thread, field); });
    });
  }

  // Writes what the leak check found about the leaked blocks, if there was one.
  void write_judged(const PlaceNumbers& sum) {
    for (const SiteField* field : reported_numbers(profile_)) {
      if (field->needs == SiteField::Needs::kJudgement) json_.count(field->report, sum.*field->number);
    }
  }

  // The suppressed bytes are included in the leaked bytes, not additional to them.
  void write_suppressed(const PlaceNumbers& numbers) {
    json_.count("suppressed_leaked_bytes", numbers.suppressed_bytes);
    json_.count("suppressed_leaked_blocks_count", numbers.suppressed_blocks);
  }

  void write_unseen(const UnseenMemory& unseen) {
    if (unseen.runtime_blocks != 0) {
      json_.count("runtime_bytes", unseen.runtime_bytes);
      json_.count("runtime_count", unseen.runtime_blocks);
    }
    for (const char* what : {"context", "modules"}) {
      const Estimate sum = sum_of_estimates(unseen, what);
      if (sum.count == 0) continue;
      json_.key(std::string("estimated_") + what);
      json_.begin_object();
      json_.count("size_bytes", sum.size_bytes);
      json_.count("estimates_count", sum.count);
      json_.count("bound_count", sum.bound_count);
      json_.end_object();
    }
  }

  void write_rules(const Device& device) {
    const std::vector<SuppressedLeaks> sums = sum_by_rule(view_.suppressions, device);
    json_.key("suppressions");
    json_.begin_array();
    for (size_t i = 0; i < sums.size(); ++i) {
      const SuppressionRule& rule = view_.suppressions[i];
      json_.new_line();
      json_.begin_object();
      json_.text("rule", rule.text);
      json_.text("reason", rule.reason);
      if (!rule.source.empty()) json_.text("file", rule.source);
      json_.count("line", rule.line);
      json_.count("suppressed_leaked_bytes", sums[i].bytes);
      json_.count("suppressed_leaked_blocks_count", sums[i].blocks);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_sizes(const PlaceNumbers& numbers) {
    json_.key("sizes");
    json_.begin_array();
    for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
      const uint64_t blocks = numbers.sizes[bucket];
      if (blocks == 0) continue;
      json_.begin_object();
      json_.count("at_least_bytes", size_bucket_least(bucket, profile_.has_coarse_sizes));
      if (const std::optional<uint64_t> most = size_bucket_most(bucket)) json_.count("at_most_bytes", *most);
      json_.count("allocations_count", blocks);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_place(const Device& device, const Place& place, Metric metric) {
    const PlaceNumbers& numbers = place.numbers;
    json_.new_line();
    json_.begin_object();
    if (place.has_frame) write_frame(profile_, place.frame, &json_);
    for (const SiteField* field : reported_numbers(profile_)) {
      if (const std::optional<uint64_t> number = reported_number(numbers, *field)) json_.count(field->report, *number);
      if (field->number == &SiteNumbers::leaked_blocks) write_suppressed(numbers);
    }
    if (is_ours()) write_sizes(numbers);
    json_.count("sites_count", place.sites.size());
    write_spread(profile_, device, place, &json_);
    json_.key("callers");
    json_.begin_array();
    const CallerChain chain = find_callers(profile_, tree_, device, place, metric);
    for (const uint32_t frame : view_.all_frames ? largest_stack(profile_, device, place, metric) : chain.frames) {
      json_.begin_object();
      write_frame(profile_, frame, &json_);
      json_.end_object();
    }
    json_.end_array();
    json_.key("caller_shares");
    json_.begin_array();
    for (const CallerShare& share : chain.shares) {
      json_.begin_object();
      write_frame(profile_, share.frame, &json_);
      json_.count("amount", share.weight);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  const Profile& profile_;
  const ReportView& view_;
  PlaceTree tree_;
  JsonWriter json_;
};

}  // namespace

std::string render_report_json(const Profile& profile, const ReportView& view, const Terminal&) {
  StringSink sink;
  ReportWriter(profile, view, &sink).write();
  return sink.text();
}

}  // namespace heapprof::cli
