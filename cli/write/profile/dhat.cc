// cli/write/profile/dhat.cc: the viewer's part comes first: head, program points, frame table. The extension holds the
// rest, per site in columns (names once, not a million times), and repeats only numbers that DHAT's fields cannot hold
// exactly; dhat_sites.cc writes the columns.
#include "cli/write/profile/dhat.h"

#include "cli/base/text.h"
#include "cli/model/analysis/sampling.h"
#include "cli/model/profile/fields.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/site_fields.h"
#include "cli/write/encode/field_writer.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/encode/scopes_json.h"
#include "cli/write/profile/dhat_sites.h"
#include "cli/write/profile/dhat_trace.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kNsPerUs = 1000;

uint64_t clamp(uint64_t value) { return std::min(value, kExactDouble); }

std::string shell_joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_quoted(word, "^");
  return text;
}

class DhatWriter {
 public:
  DhatWriter(const Profile& profile, ByteSink* sink) : profile_(profile), json_(sink), fields_(&json_) {}

  void run() {
    json_.begin_object();
    write_head();
    json_.key("pps");
    if (profile_.devices.empty()) {
      json_.begin_array();
      json_.end_array();
    } else {
      write_points(profile_.devices[0]);
    }
    json_.new_line();
    write_frame_table();
    json_.new_line();
    write_extension();
    json_.end_object();
    json_.finish();
  }

 private:
  bool is_time_ns() const { return profile_.time_unit == "ns"; }
  uint64_t dhat_time(uint64_t time) const { return clamp(is_time_ns() ? time / kNsPerUs : time); }

  uint64_t dhat_lifetime(const SiteNumbers& n) const {
    return clamp(is_time_ns() ? n.lifetime_ns / kNsPerUs + (n.lifetime_ns % kNsPerUs >= kNsPerUs / 2) : n.lifetime_ns);
  }

  void write_head() {
    json_.count("dhatFileVersion", 2);
    fields_("mode", std::string("heap"));
    fields_("verb", std::string("Allocated"));
    fields_("bklt", profile_.has_lifetimes);
    fields_("bkacc", false);
    json_.new_line();
    const bool is_instructions = profile_.time_unit == "instrs";
    fields_("tu", is_time_ns() ? std::string("µs") : profile_.time_unit);
    fields_("Mtu", is_time_ns() ? std::string("s") : is_instructions ? "Minstr" : "M" + profile_.time_unit);
    if (profile_.has_lifetimes) fields_("tuth", uint64_t{is_instructions ? 500u : 10u});
    json_.new_line();
    fields_("cmd", shell_joined(profile_.run.command) + sampling_comment(profile_));
    fields_("pid", clamp(profile_.run.pid));
    // The end time is rounded up, so that every moment and lifetime is within it.
    fields_("te", dhat_time(profile_.run.duration_ns) + (is_time_ns() && profile_.run.duration_ns % kNsPerUs != 0));
    if (profile_.has_lifetimes)
      fields_("tg", profile_.devices.empty() ? 0 : dhat_time(profile_.devices[0].totals.peak_ns));
    json_.new_line();
  }

  // Index 0 of the table is the root, and the pseudo-frame of sites without a stack comes last.
  uint64_t no_stack_index() const { return profile_.frames.size() + 1; }

  void write_stack(uint32_t node) {
    json_.key("fs");
    write_frames_of(node);
  }

  void write_frames_of(uint32_t node) {
    json_.begin_array();
    if (node == 0) json_.number(no_stack_index());
    for (; node != 0; node = profile_.nodes[node].parent) json_.number(uint64_t{profile_.nodes[node].frame} + 1);
    json_.end_array();
  }

  void write_points(const Device& device) {
    json_.begin_array();
    for (const Site& site : device.sites) {
      json_.new_line();
      json_.begin_object();
      const SiteNumbers& n = site.numbers;
      for (const SiteField& field : kPointFields) {
        if (field.needs == SiteField::Needs::kLifetimes && !profile_.has_lifetimes) continue;
        fields_(field.key, clamp(n.*field.number));
        if (field.number == &SiteNumbers::total_blocks && profile_.has_lifetimes) fields_("tl", dhat_lifetime(n));
      }
      write_stack(site.node);
      json_.end_object();
    }
    json_.end_array();
  }

  bool has_site_without_stack() const {
    bool has_any = false;
    for (const Device& device : profile_.devices) {
      for (const Site& site : device.sites) has_any = has_any || site.node == 0;
    }
    for_each_other_node(profile_, [&has_any](uint32_t node) { has_any = has_any || node == 0; });
    return has_any;
  }

  void write_frame_table() {
    json_.key("ftbl");
    json_.begin_array();
    json_.string("[root]");
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      json_.new_line();
      const std::string text = frame_text(profile_, profile_.frames[i]);
      json_.string(text);
      if (!reads_back(profile_.frames[i], text)) exact_frames_.push_back(i);
    }
    if (has_site_without_stack()) json_.string(kNoStackText);
    json_.end_array();
  }

  bool reads_back(const Frame& frame, const std::string& text) const {
    const ParsedFrame parsed = parse_frame_text(text, false);
    return parsed.svma == frame.svma && parsed.function == frame.function && parsed.file == frame.file &&
           parsed.line == frame.line;
  }

  void write_extension() {
    json_.key("heapprof");
    json_.begin_object();
    fields_("version", uint64_t{1});
    json_.text("dialect", dialect_name(profile_.dialect));
    fields_("time_unit", profile_.time_unit);
    json_.new_line();
    write_struct("run", [this] { visit_run(profile_.run, fields_); });
    const Sampling& sampling = profile_.run.sampling;
    if (sampling.has_any()) write_struct("sampling", [&] { visit_sampling(sampling, fields_); });
    if (profile_.run.job.has_rank()) write_struct("job", [this] { visit_job(profile_.run.job, fields_); });
    write_struct("machine", [this] { visit_machine(profile_.run.machine, fields_); });
    write_struct("coverage", [this] { visit_coverage(profile_.run.coverage, fields_); });
    write_structs("unprofiled_programs", profile_.run.coverage.unprofiled_programs,
                  [this](const UnprofiledProgram& program) { visit_unprofiled_program(program, fields_); });
    write_struct("counters", [this] { visit_counters(profile_.run.counters, fields_); });
    write_struct("unwinder", [this] { visit_unwinder(profile_.run.unwinder, fields_); });
    write_struct("cost", [this] { visit_cost(profile_.run.cost, fields_); });
    write_structs("threads", profile_.run.threads, [this](const Thread& thread) { visit_thread(thread, fields_); });
    write_struct("other_threads", [this] { visit_thread(profile_.run.other_threads, fields_); });
    write_processes();
    write_leak_check();
    write_structs("modules", profile_.modules, [this](const ProfileModule& module) { visit_module(module, fields_); });
    if (!profile_.merged.empty())
      write_structs("merged", profile_.merged, [this](const MergedPart& part) { write_part(part); });
    write_frames();
    if (profile_.api.kernel_launches != 0 || !profile_.api.calls.empty())
      write_struct("device_api", [this] { write_api(profile_.api); });
    if (!profile_.scopes.empty()) write_scopes(profile_.scopes, InstanceLayout::kColumns, &json_);
    if (profile_.snapshots.has_any()) write_struct("snapshots", [this] { write_snapshots(profile_.snapshots); });
    if (profile_.trace.has_any())
      write_struct("device_trace", [this] {
        write_device_trace(
            profile_.trace, [this](uint32_t node) { write_frames_of(node); }, &json_);
      });
    json_.key("devices");
    json_.begin_array();
    for (size_t i = 0; i < profile_.devices.size(); ++i) write_device(profile_.devices[i], i == 0);
    json_.end_array();
    json_.end_object();
  }

  void write_processes() {
    if (profile_.run.processes.empty()) return;
    write_structs("processes", profile_.run.processes,
                  [this](const OtherProcess& process) { visit_other_process(process, fields_); });
    if (profile_.run.other_processes_count != 0) fields_("other_processes_count", profile_.run.other_processes_count);
  }

  void write_part(const MergedPart& part) {
    visit_merged_part(part, fields_);
    if (part.job.has_rank()) visit_job(part.job, fields_);
    if (!part.rows.empty())
      write_structs("places", part.rows, [this](const PartRow& row) { visit_part_row(row, fields_); });
  }

  void write_leak_check() {
    const LeakJudgement& judgement = profile_.run.leak_check;
    if (judgement.is_asked) write_struct("leak_check", [&] { visit_leak_check(judgement, fields_); });
  }

  template <typename WriteFields>
  void write_struct(std::string_view name, WriteFields&& write_fields) {
    heapprof::cli::write_struct(name, write_fields, &json_);
  }
  template <typename Struct, typename WriteFields>
  void write_structs(std::string_view name, const std::vector<Struct>& structs, WriteFields&& write_fields) {
    heapprof::cli::write_structs(name, structs, write_fields, &json_);
  }

  // Facts that are not in the frame table's text. Index 0 is the first real frame, ftbl[1].
  void write_frames() {
    json_.key("frames");
    json_.begin_object();
    json_.key("module");
    json_.begin_array();
    for (const Frame& frame : profile_.frames) {
      json_.signed_number(frame.module < profile_.modules.size() ? int64_t{frame.module} : -1);
    }
    json_.end_array();
    json_.key("inlined");
    json_.begin_array();
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      if (profile_.frames[i].inlined) json_.number(i);
    }
    json_.end_array();
    if (std::any_of(profile_.frames.begin(), profile_.frames.end(),
                    [](const Frame& frame) { return frame.inferred; })) {
      json_.key("inferred");
      json_.begin_array();
      for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
        if (profile_.frames[i].inferred) json_.number(i);
      }
      json_.end_array();
    }
    json_.key("exact");
    json_.begin_array();
    for (const uint32_t i : exact_frames_) {
      const Frame& frame = profile_.frames[i];
      json_.begin_object();
      fields_("frame", i);
      fields_("svma", frame.svma);
      fields_("function", frame.function);
      fields_("file", frame.file);
      fields_("line", frame.line);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
    json_.new_line();
  }

  void write_device(const Device& device, bool is_host) {
    json_.begin_object();
    fields_("name", device.name);
    if (!profile_.merged.empty()) write_peak_of_sum(device);
    write_struct("totals", [&] { visit_totals(device.totals, fields_); });
    write_timeline(device.timeline);
    write_device_facts(device);
    if (!device.moments_ns.empty()) write_numbers("moments_ns", device.moments_ns, &json_);
    if (!device.bounds_ns.empty()) write_numbers("bounds_ns", device.bounds_ns, &json_);
    if (!is_host) {
      json_.key("pps");
      write_points(device);
      json_.new_line();
    }
    json_.key("sites");
    write_site_columns(device.sites, profile_.has_coarse_sizes, &json_);
    json_.end_object();
    json_.new_line();
  }

  void write_api(const DeviceApi& api) {
    fields_("kernel_launches_count", api.kernel_launches);
    write_structs("calls", api.calls, [this](const ApiCall& call) {
      write_stack(call.node);
      visit_api_call(call, fields_);
    });
    write_structs("threads", api.threads, [this](const ApiThread& thread) { visit_api_thread(thread, fields_); });
  }

  void write_snapshots(const Snapshots& snapshots) {
    visit_snapshots(snapshots, fields_);
    write_structs("snapshots", snapshots.snapshots, [this](const Snapshot& snapshot) {
      visit_snapshot(snapshot, fields_);
      write_structs("devices", snapshot.devices, [this](const SnapshotDevice& device) {
        visit_snapshot_device(device, fields_);
        write_structs("largest", device.largest, [this](const LargeBlock& block) {
          write_stack(block.node);
          visit_large_block(block, fields_);
        });
      });
      if (!snapshot.has_tensors()) return;
      fields_("lost_tensors_count", snapshot.lost_tensors);
      write_structs("tensors", snapshot.tensors, [this](const SnapshotTensors& tensors) {
        fields_("device", tensors.device);
        write_structs("sites", tensors.sites, [this](const TensorSite& site) {
          write_stack(site.node);
          visit_tensor_site(site, fields_);
        });
        write_structs("largest", tensors.largest, [this](const LargeTensor& tensor) {
          write_stack(tensor.node);
          visit_large_tensor(tensor, fields_);
        });
      });
    });
  }

  void write_unseen(const UnseenMemory& unseen) {
    visit_unseen(unseen, fields_);
    write_structs("estimates", unseen.estimates, [this](const Estimate& estimate) {
      write_stack(estimate.node);
      visit_estimate(estimate, fields_);
    });
  }

  void write_names(const std::vector<NamedMemory>& names) {
    write_structs("names", names, [this](const NamedMemory& named) {
      visit_named(named, fields_);
      write_structs("sites", named.sites, [this](const NamedSite& site) {
        write_stack(site.node);
        visit_named_site(site, fields_);
      });
    });
  }

  void write_lost_owners(const std::vector<LostOwners>& all) {
    write_structs("lost_owners", all, [this](const LostOwners& owners) {
      visit_lost_owners(owners, fields_);
      write_structs("blocks_of", owners.parts, [this](const OwnerPart& part) {
        write_stack(part.node);
        visit_owner_part(part, fields_);
      });
    });
  }

  void write_held_by(const std::vector<Holder>& all) {
    write_structs("held_by", all, [this](const Holder& holder) {
      visit_holder(holder, fields_);
      write_structs("blocks_of", holder.parts, [this](const OwnerPart& part) {
        write_stack(part.node);
        visit_owner_part(part, fields_);
      });
    });
  }

  void write_fragmentation(const Fragmentation& fragmentation) {
    visit_fragmentation(fragmentation, fields_);
    write_structs("blocks_of", fragmentation.pinning, [this](const OwnerPart& part) {
      write_stack(part.node);
      visit_owner_part(part, fields_);
    });
  }

  void write_untouched(const Untouched& untouched) {
    visit_untouched(untouched, fields_);
    write_structs("blocks_of", untouched.parts, [this](const UntouchedPart& part) {
      write_stack(part.node);
      visit_untouched_part(part, fields_);
    });
  }

  void write_segments(const SegmentsUse& segments) {
    const auto write_moment = [this](const char* key, const SegmentsMoment& moment) {
      write_struct(key, [&] {
        visit_segments_moment(moment, fields_);
        write_structs("segments", moment.segments, [this](const SegmentUse& use) { visit_segment(use, fields_); });
      });
    };
    write_moment("at_peak", segments.at_peak);
    write_moment("at_end", segments.at_end);
    if (segments.has_refusal()) write_moment("at_refusal", segments.at_refusal);
  }

  void write_device_facts(const Device& device) {
    if (!device.identity.uuid.empty() || !device.identity.product.empty())
      write_struct("identity", [&] { visit_identity(device.identity, fields_); });
    if (has_any(device.held)) write_struct("held", [&] { visit_held(device.held, fields_); });
    if (has_any(device.use)) write_struct("use", [&] { visit_use(device.use, fields_); });
    if (device.limit_bytes != 0) fields_("limit_bytes", device.limit_bytes);
    if (device.unseen.has_any()) write_struct("unseen", [&] { write_unseen(device.unseen); });
    if (device.segments.has_any()) write_struct("segments", [&] { write_segments(device.segments); });
    if (!device.names.empty()) write_names(device.names);
    if (!device.lost_owners.empty()) write_lost_owners(device.lost_owners);
    if (!device.held_by.empty()) write_held_by(device.held_by);
    if (device.fragmentation.has_any())
      write_struct("fragmentation", [&] { write_fragmentation(device.fragmentation); });
    if (device.untouched.has_any()) write_struct("untouched", [&] { write_untouched(device.untouched); });
    if (device.refusals.empty()) return;
    write_structs("refusals", device.refusals, [this](const Refusal& refusal) {
      write_stack(refusal.node);
      visit_refusal(refusal, fields_);
      write_structs("holders", refusal.live_sites, [this](const LiveSite& live_site) {
        write_stack(live_site.node);
        visit_live_site(live_site, fields_);
      });
    });
  }

  // Says that the peak is a sum of peaks, which was never in use at one time, and gives the largest of these peaks.
  void write_peak_of_sum(const Device& device) {
    uint64_t largest = 0;
    for (const MergedPart& part : profile_.merged)
      if (part.device == device.name) largest = std::max(largest, part.peak_bytes);
    fields_("peak_is_sum", true);
    fields_("largest_peak_bytes", largest);
  }

  void write_timeline(const Timeline& timeline) {
    json_.key("timeline");
    json_.begin_object();
    fields_("bucket_ns", timeline.bucket_ns);
    json_.key("min_bytes");
    json_.begin_array();
    for (const Timeline::Bucket& bucket : timeline.buckets) json_.number(bucket.min_bytes);
    json_.end_array();
    json_.key("max_bytes");
    json_.begin_array();
    for (const Timeline::Bucket& bucket : timeline.buckets) json_.number(bucket.max_bytes);
    json_.end_array();
    json_.end_object();
    json_.new_line();
  }

  const Profile& profile_;
  JsonWriter json_;
  FieldWriter fields_;
  std::vector<uint32_t> exact_frames_;
};

}  // namespace

void write_dhat(const Profile& profile, ByteSink* sink) { DhatWriter(profile, sink).run(); }

}  // namespace heapprof::cli
