// cli/write/export/perfetto.cc: one sequence of packets for the tracks, and one for each heap. Readers treat the
// numbers of a heap's samples as sums since the start, and identify a sample by stack and process. The peak's numbers
// are no such sums, so the peak is a separate heap.
#include "cli/base/file_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/encode/tar.h"
#include "cli/write/export/exports.h"
#include "cli/write/export/perfetto_fields.h"
#include "cli/write/export/perfetto_packets.h"
#include "cli/write/export/perfetto_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heapprof::cli {
namespace {

using namespace perfetto;  // NOLINT(google-build-using-namespace)

class TraceWriter {
 public:
  TraceWriter(const Profile& profile, const ExportView& view, ByteSink* sink)
      : profile_(profile), view_(view), packets_(profile, sink) {}

  void run() {
    write_clocks();
    write_process();
    for (const Device* device : exported_devices(profile_, view_)) write_counter(*device);
    write_scopes();
    write_marks();
    write_snapshots();
    for (const Device* device : exported_devices(profile_, view_)) write_heaps(profile_, *device, &packets_);
    packets_.finish();
  }

 private:
  // A profile has only one clock, so all clocks that readers need get its reading. Without BOOTTIME, a reader cannot
  // relate the clocks of an archive's second file to the others, and drops that whole file.
  void write_clocks() {
    packets_.add_plain([this](protozero::pbf_writer* packet) {
      protozero::pbf_writer snapshot(*packet, packet::kClockSnapshot);
      for (const uint32_t clock : {clocks::kRealtime, clocks::kMonotonicCoarse, clocks::kBoottime}) {
        protozero::pbf_writer message(snapshot, clocks::kClock);
        message.add_uint32(clocks::kId, clock);
        message.add_uint64(clocks::kTime, packets_.time(0));
      }
      snapshot.add_uint32(clocks::kPrimary, clocks::kRealtime);
    });
  }

  template <typename Describe>
  uint64_t add_track(const Describe& describe) {
    const uint64_t id = packets_.next_track();
    packets_.add_plain([&](protozero::pbf_writer* packet) {
      protozero::pbf_writer message(*packet, packet::kTrackDescriptor);
      message.add_uint64(track::kId, id);
      describe(&message);
    });
    return id;
  }
  uint64_t add_named_track(uint64_t parent, const std::string& name) {
    return add_track([&](protozero::pbf_writer* message) {
      message->add_string(track::kName, escape_controls(name));
      message->add_uint64(track::kParent, parent);
    });
  }

  void write_process() {
    const RunInfo& run = profile_.run;
    process_ = add_track([&](protozero::pbf_writer* message) {
      protozero::pbf_writer described(*message, track::kProcess);
      described.add_int32(process::kPid, packets_.pid());
      for (const std::string& word : run.command) described.add_string(process::kCommand, escape_controls(word));
      described.add_string(process::kName, escape_controls(shown_name()));
    });
  }

  std::string shown_name() const {
    const RunInfo& run = profile_.run;
    if (!run.title.empty()) return run.title;
    if (!run.command.empty() && !run.command[0].empty()) return std::string(base_name(run.command[0]));
    return run.executable.empty() ? "heapprof" : std::string(base_name(run.executable));
  }

  uint64_t thread_track(uint32_t thread) {
    const auto [entry, is_new] = threads_.emplace(thread, 0);
    if (!is_new) return entry->second;
    std::string name;
    for (const Thread& known : profile_.run.threads) {
      if (known.id == thread) name = known.name;
    }
    entry->second = add_track([&](protozero::pbf_writer* message) {
      message->add_uint64(track::kParent, process_);
      protozero::pbf_writer described(*message, track::kThread);
      described.add_int32(thread::kPid, packets_.pid());
      described.add_int32(thread::kId, packets_.thread(thread));
      if (!name.empty()) described.add_string(thread::kName, escape_controls(name));
    });
    return entry->second;
  }

  // ---- live memory over time ----

  void write_counter(const Device& device) {
    const Timeline& timeline = device.timeline;
    if (timeline.buckets.empty() || timeline.bucket_ns == 0) return;
    const uint64_t id = add_track([&](protozero::pbf_writer* message) {
      message->add_string(track::kName, escape_controls(device.name) + " live");
      message->add_uint64(track::kParent, process_);
      protozero::pbf_writer described(*message, track::kCounter);
      described.add_enum(counter::kUnit, counter::kBytes);
    });
    const uint64_t peak_ns = device.totals.peak_ns;
    bool has_peak = false;
    uint64_t begin_ns = 0;
    for (const Timeline::Bucket& bucket : timeline.buckets) {
      const uint64_t middle_ns = begin_ns + std::min(timeline.bucket_ns / 2, UINT64_MAX - begin_ns);
      const uint64_t end_ns = begin_ns + std::min(timeline.bucket_ns, UINT64_MAX - begin_ns);
      write_value(id, begin_ns, bucket.min_bytes);
      if (!has_peak && peak_ns < end_ns) {
        write_value(id, std::max(begin_ns, peak_ns), device.totals.peak_bytes);
        has_peak = true;
      } else if (bucket.max_bytes != bucket.min_bytes) {
        write_value(id, middle_ns, bucket.max_bytes);
      }
      begin_ns = end_ns;
    }
    // The peak may be later than the end of the last bucket.
    if (!has_peak) write_value(id, std::max(begin_ns, peak_ns), device.totals.peak_bytes);
    write_value(id, std::max({begin_ns, peak_ns, profile_.run.duration_ns}), device.totals.leaked_bytes);
  }

  void write_value(uint64_t track_id, uint64_t at_ns, uint64_t bytes) {
    packets_.add_at(at_ns, [&](protozero::pbf_writer* packet) {
      protozero::pbf_writer message(*packet, packet::kTrackEvent);
      message.add_enum(event::kType, event::kCounter);
      message.add_uint64(event::kTrack, track_id);
      message.add_int64(event::kCounterValue, as_signed(bytes));
    });
  }

  // ---- slices and instants ----

  void write_scopes() {
    uint64_t id = 0;
    for (const ScopeTrack& track : find_scope_tracks(profile_.scopes).tracks) {
      id = track.number == 0
               ? thread_track(track.thread)
               : add_named_track(thread_track(track.thread), fmt::format("scopes beside, {}", track.number));
      for (const ScopeTrackEvent& it : track.events) write_slice_event(id, it);
    }
  }

  void write_slice_event(uint64_t track_id, const ScopeTrackEvent& it) {
    if (!it.is_begin) {
      packets_.add_at(it.at_ns, [&](protozero::pbf_writer* packet) {
        protozero::pbf_writer message(*packet, packet::kTrackEvent);
        message.add_enum(event::kType, event::kEnd);
        message.add_uint64(event::kTrack, track_id);
      });
      return;
    }
    const Scope& scope = profile_.scopes.scopes[it.scope];
    const ScopeInstance& instance = scope.instances[it.instance];
    packets_.add_event({it.at_ns, track_id, event::kBegin, scope.category, scope.name},
                       [&](const PacketStream::Annotate& annotate) {
                         annotate.add_signed("growth_bytes", instance.growth_bytes);
                         if (instance.active_ns != instance.end_ns - instance.begin_ns)
                           annotate.add("active_ns", instance.active_ns);
                         for (const InstanceMemory& memory : scope.instance_memory) {
                           if (memory.after_bytes.size() != scope.instances.size()) continue;
                           annotate.add(memory.device + " live after", memory.after_bytes[it.instance]);
                         }
                       });
  }

  void write_marks() {
    for (const Mark& mark : profile_.scopes.marks) {
      packets_.add_event({mark.at_ns, thread_track(mark.thread), event::kInstant, mark.category, mark.name},
                         [&](const PacketStream::Annotate& annotate) {
                           for (const MarkedMemory& memory : mark.memory)
                             annotate.add(memory.device + " live", memory.live_bytes);
                         });
    }
  }

  void write_snapshots() {
    const std::vector<Snapshot>& snapshots = profile_.snapshots.snapshots;
    if (snapshots.empty()) return;
    const uint64_t id = add_named_track(process_, "snapshots");
    for (size_t i = 0; i < snapshots.size(); ++i) {
      const std::string mark = mark_text(snapshots[i]);
      const std::string name = fmt::format("{}{}{}", i + 1, mark.empty() ? "" : " ", mark);
      packets_.add_event({snapshots[i].at_ns, id, event::kInstant, "snapshot", name},
                         [&](const PacketStream::Annotate& annotate) {
                           for (const SnapshotDevice& device : snapshots[i].devices)
                             annotate.add(device.device + " live", device.live_bytes);
                         });
    }
  }

  const Profile& profile_;
  const ExportView& view_;
  PacketStream packets_;
  uint64_t process_ = 0;                  // its track's number
  std::map<uint32_t, uint64_t> threads_;  // their tracks' numbers
};

// A unique name for a file in an archive.
std::string archive_name(const std::string& file, std::set<std::string>* taken) {
  constexpr size_t kMostStem = 80;
  std::string stem = to_ascii(escape_controls(base_name(file)));
  for (const std::string_view end : {".json.gz", ".json"}) {
    if (stem.ends_with(end)) stem.resize(stem.size() - end.size());
  }
  if (stem.size() > kMostStem) stem.resize(kMostStem);
  if (stem.empty()) stem = "profile";
  for (uint64_t number = 1;; ++number) {
    std::string name = number == 1 ? stem + ".pftrace" : fmt::format("{}.{}.pftrace", stem, number);
    if (taken->insert(name).second) return name;
  }
}

}  // namespace

void write_perfetto(const Profile& profile, const ExportView& view, ByteSink* sink) {
  TraceWriter(profile, view, sink).run();
}

void write_perfetto_archive(std::span<const ExportInput> profiles, const ExportView& view, ByteSink* sink) {
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const ExportInput& it : profiles) names.push_back(archive_name(it.file, &taken));
  StringSink manifest;
  JsonWriter json(&manifest);
  json.begin_object();
  json.key("perfetto_manifest");  // the first key: it identifies the file
  json.begin_object();
  json.count("version", 1);
  json.key("trace_time");
  json.begin_object();
  json.text("clock", "REALTIME");
  json.end_object();
  json.key("files");
  json.begin_array();
  std::map<int32_t, uint64_t> pids;  // for each process id, how many profiles had it
  for (size_t i = 0; i < profiles.size(); ++i) {
    json.begin_object();
    json.text("path", names[i]);
    const uint64_t same = ++pids[process_id(profiles[i].profile)];
    if (same > 1) {
      json.key("machine");
      json.begin_object();
      json.text("name", fmt::format("same process id, {}", same));
      json.end_object();
    }
    json.end_object();
  }
  json.end_array();
  json.key("attributes");
  json.begin_object();
  json.text("heapprof.version", HEAPPROF_VERSION);
  json.end_object();
  json.end_object();
  json.end_object();
  json.finish();
  write_tar_file("perfetto_manifest.json", manifest.text(), sink);
  for (size_t i = 0; i < profiles.size(); ++i) {
    StringSink trace;
    write_perfetto(profiles[i].profile, view, &trace);
    write_tar_file(names[i], trace.text(), sink);
  }
  write_tar_end(sink);
}

std::vector<std::string> find_perfetto_notes(const Profile& profile, const ExportView& view) {
  std::vector<std::string> notes;
  uint64_t unkept = find_scope_tracks(profile.scopes).left_out;
  for (const Scope& scope : profile.scopes.scopes) unkept += scope.unkept_instances;
  if (unkept != 0)
    notes.push_back(fmt::format("less   {} through scopes {} not in it: not kept, or without a time",
                                format_counted(unkept, "run"), unkept == 1 ? "is" : "are"));
  if (profile.time_unit != "ns")
    notes.push_back(fmt::format("time   is in {}: what is shown as 1 ns is one of them", profile.time_unit));
  const auto has_timeline = [](const Device* device) { return !device->timeline.buckets.empty(); };
  const std::vector<const Device*> devices = exported_devices(profile, view);
  if (std::none_of(devices.begin(), devices.end(), has_timeline))
    notes.emplace_back("less   no counters: the profile has no timeline");
  return notes;
}

}  // namespace heapprof::cli
