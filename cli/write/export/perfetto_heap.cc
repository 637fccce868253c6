// cli/write/export/perfetto_heap.cc: a stack's id is its node's number + 1, a frame's id is its index + 1, so no
// look-up is needed. All that a heap's samples refer to is interned in earlier packets of the same sequence.
//
// Readers merge frames that have the same module, address and name. Python frames have no address, so the lines of one
// function would be merged. A frame that would be merged with an earlier one gets a unique address.
//
// The viewer opens only the heap "libc.malloc" by itself. If a trace has several heaps and none of that name, the
// viewer shows none until the user clicks one. It treats the text between two colons as a heap's name.
#include "cli/base/text.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/analysis/sampling.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/export/perfetto_parts.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

using namespace perfetto;  // NOLINT(google-build-using-namespace)

struct HeapSample {
  uint32_t node = 0;
  uint64_t allocated_bytes = 0;
  uint64_t allocated_blocks = 0;
  uint64_t freed_bytes = 0;
  uint64_t freed_blocks = 0;
};

std::string raw_build_id(const std::string& hex) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string raw;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    if (digit(hex[i]) < 0 || digit(hex[i + 1]) < 0) return "";
    raw += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return raw;
}

// The heap's name, without characters that would end it: queries have it in quotes, and the viewer after a colon.
std::string heap_name(const std::string& device, std::string_view of) {
  if (device == "host" && of.empty()) return "libc.malloc";
  std::string name = escape_controls(device);
  for (char& c : name) {
    if (std::string_view("'\"\\`;:").find(c) != std::string_view::npos) c = '_';
  }
  return name + std::string(of);
}

// For each frame, its address in the trace.
std::vector<uint64_t> distinct_addresses(const Profile& profile) {
  constexpr uint64_t kBeyondAll = uint64_t{1} << 62;
  std::set<std::tuple<uint32_t, uint64_t, std::string>> taken;
  std::vector<uint64_t> addresses;
  addresses.reserve(profile.frames.size());
  for (const Frame& frame : profile.frames) {
    const uint64_t wanted = frame.svma == 0 ? frame.line : std::min(frame.svma, kBeyondAll - 1);
    const bool is_free = taken.emplace(frame.module, wanted, escape_controls(frame_label(profile, frame))).second;
    addresses.push_back(is_free ? wanted : kBeyondAll + addresses.size());
  }
  return addresses;
}

// One heap: a sequence of dumps.
class HeapSequence {
 public:
  HeapSequence(const Profile& profile, const std::vector<uint64_t>& addresses, std::string name,
               uint64_t interval_bytes, PacketStream* packets)
      : profile_(profile),
        addresses_(addresses),
        name_(std::move(name)),
        interval_bytes_(interval_bytes),
        packets_(packets),
        sequence_(packets->next_sequence()),
        has_stack_(std::max<size_t>(profile.nodes.size(), 1)),
        has_frame_(profile.frames.size() + 1),
        has_module_(profile.modules.size() + 1) {}

  void add_dump(uint64_t at_ns, const std::vector<HeapSample>& samples) {
    for (const HeapSample& sample : samples) intern_stack(sample.node);
    pass_on_names();
    const uint64_t time = packets_->dump_time(at_ns);
    for (size_t begin = 0; begin == 0 || begin < samples.size(); begin += kMostSamples) {
      const size_t end = std::min(samples.size(), begin + kMostSamples);
      add_packet([&](protozero::pbf_writer* packet) {
        PacketStream::add_time(time, packet);
        protozero::pbf_writer message(*packet, packet::kProfilePacket);
        {
          protozero::pbf_writer dumped(message, profile::kDump);
          dumped.add_uint64(dump::kPid, static_cast<uint64_t>(packets_->pid()));
          dumped.add_bool(dump::kFromStart, true);
          dumped.add_uint64(dump::kTime, time);
          dumped.add_string(dump::kHeap, name_);
          if (interval_bytes_ != 0) dumped.add_uint64(dump::kSamplingInterval, interval_bytes_);
          for (size_t i = begin; i < end; ++i) write_sample(samples[i], &dumped);
        }
        message.add_bool(profile::kIsContinued, end < samples.size());
        message.add_uint64(profile::kIndex, index_++);
      });
    }
  }

 private:
  static constexpr size_t kMostSamples = 4000;     // per packet
  static constexpr size_t kMostNames = 128 << 10;  // bytes per packet

  template <typename Fill>
  void add_packet(const Fill& fill) {
    packets_->add(sequence_, has_begun_ ? packet::kNeedsState : packet::kBeginsState, fill);
    has_begun_ = true;
  }

  static void write_sample(const HeapSample& it, protozero::pbf_writer* dumped) {
    protozero::pbf_writer message(*dumped, dump::kSample);
    message.add_uint64(sample::kCallstack, it.node + 1);
    message.add_uint64(sample::kAllocated, it.allocated_bytes);
    message.add_uint64(sample::kFreed, it.freed_bytes);
    message.add_uint64(sample::kAllocatedCount, it.allocated_blocks);
    message.add_uint64(sample::kFreedCount, it.freed_blocks);
  }

  void pass_on_names() {
    if (names_.empty()) return;
    add_packet([&](protozero::pbf_writer* packet) { packet->add_message(packet::kInternedData, names_); });
    names_.clear();
  }

  uint64_t intern_text(TextTable* table, Tag tag, const std::string& text) {
    bool is_new = false;
    const uint64_t id = table->intern(text, &is_new);
    if (is_new) {
      protozero::pbf_writer names(names_);
      protozero::pbf_writer message(names, tag);
      message.add_uint64(interned::kId, id);
      message.add_string(interned::kText, text);
    }
    return id;
  }

  // The index after the last module is for frames in no module.
  uint64_t intern_module(uint32_t module) {
    const size_t at = std::min<size_t>(module, profile_.modules.size());
    if (has_module_[at]) return at + 1;
    has_module_[at] = true;
    const bool is_known = at < profile_.modules.size();
    const uint64_t build_id =
        is_known ? intern_text(&build_ids_, interned::kBuildId, raw_build_id(profile_.modules[at].build_id)) : 0;
    const uint64_t path = intern_text(&module_paths_, interned::kModulePath,
                                      is_known ? escape_controls(profile_.modules[at].path) : "[no module]");
    protozero::pbf_writer names(names_);
    protozero::pbf_writer message(names, interned::kMapping);
    message.add_uint64(mapping::kId, at + 1);
    if (build_id != 0) message.add_uint64(mapping::kBuildId, build_id);
    if (path != 0) message.add_uint64(mapping::kPath, path);
    return at + 1;
  }

  // The index after the last frame is for sites without a stack.
  uint64_t intern_frame(uint32_t index) {
    if (has_frame_[index]) return uint64_t{index} + 1;
    has_frame_[index] = true;
    const bool is_known = index < profile_.frames.size();
    Frame nothing;
    const Frame& frame = is_known ? profile_.frames[index] : nothing;
    const uint64_t function =
        intern_text(&functions_, interned::kFunctionName,
                    is_known ? escape_controls(frame_label(profile_, frame)) : std::string(kNoStackText));
    const uint64_t module = intern_module(frame.module);
    const uint64_t source = intern_text(&source_paths_, interned::kSourcePath, escape_controls(frame.file));
    protozero::pbf_writer names(names_);
    protozero::pbf_writer message(names, interned::kFrame);
    message.add_uint64(frame::kId, uint64_t{index} + 1);
    message.add_uint64(frame::kFunctionName, function);
    message.add_uint64(frame::kMapping, module);
    message.add_uint64(frame::kAddress, is_known ? addresses_[index] : 0);
    if (source != 0) message.add_uint64(frame::kSourcePath, source);
    if (source != 0 && frame.line != 0) message.add_uint32(frame::kLine, frame.line);
    return uint64_t{index} + 1;
  }

  void intern_stack(uint32_t node) {
    if (has_stack_[node]) return;
    has_stack_[node] = true;
    path_.clear();
    if (node == 0) path_.push_back(intern_frame(static_cast<uint32_t>(profile_.frames.size())));
    for (uint32_t at = node; at != 0; at = profile_.nodes[at].parent)
      path_.push_back(intern_frame(profile_.nodes[at].frame));
    std::reverse(path_.begin(), path_.end());
    {
      protozero::pbf_writer names(names_);
      protozero::pbf_writer message(names, interned::kCallstack);
      message.add_uint64(callstack::kId, uint64_t{node} + 1);
      for (const uint64_t frame : path_) message.add_uint64(callstack::kFrame, frame);
    }
    if (names_.size() >= kMostNames) pass_on_names();
  }

  const Profile& profile_;
  const std::vector<uint64_t>& addresses_;
  std::string name_;
  uint64_t interval_bytes_;  // 0: not sampled
  PacketStream* packets_;
  uint32_t sequence_;
  bool has_begun_ = false;
  uint64_t index_ = 0;
  std::vector<bool> has_stack_;   // by node
  std::vector<bool> has_frame_;   // by frame
  std::vector<bool> has_module_;  // by module
  TextTable functions_;
  TextTable build_ids_;
  TextTable module_paths_;
  TextTable source_paths_;
  std::string names_;  // InternedData that is not in a packet yet
  std::vector<uint64_t> path_;
};

// What is left of INT64_MAX, the largest number that sums may reach.
class Room {
 public:
  uint64_t take(uint64_t wanted) {
    const uint64_t taken = std::min(wanted, left_);
    left_ -= taken;
    return taken;
  }

 private:
  uint64_t left_ = INT64_MAX;
};

class HeapsWriter {
 public:
  HeapsWriter(const Profile& profile, const Device& device, PacketStream* packets)
      : profile_(profile), device_(device), packets_(packets), addresses_(distinct_addresses(profile)) {}

  void run() {
    if (device_.sites.empty()) return;
    write_end();
    if (!profile_.has_lifetimes) return;
    write_peak();
    write_snapshots();
  }

 private:
  HeapSequence heap(std::string_view of) {
    return {profile_, addresses_, heap_name(device_.name, of), interval_of(profile_, device_), packets_};
  }

  void write_end() {
    Room bytes;
    Room blocks;
    std::vector<HeapSample> samples;
    for (const Site& site : device_.sites) {
      const SiteNumbers& n = site.numbers;
      HeapSample sample{site.node, bytes.take(n.total_bytes), blocks.take(n.total_blocks), 0, 0};
      sample.freed_bytes = sample.allocated_bytes - std::min(sample.allocated_bytes, n.leaked_bytes);
      sample.freed_blocks = sample.allocated_blocks - std::min(sample.allocated_blocks, n.leaked_blocks);
      if (n.total_blocks != 0 || n.total_bytes != 0) samples.push_back(sample);
    }
    heap("").add_dump(std::max(profile_.run.duration_ns, device_.totals.peak_ns), samples);
  }

  void write_peak() {
    Room bytes;
    Room blocks;
    std::vector<HeapSample> samples;
    for (const Site& site : device_.sites) {
      const SiteNumbers& n = site.numbers;
      if (n.peak_blocks == 0 && n.peak_bytes == 0) continue;
      samples.push_back({site.node, bytes.take(n.peak_bytes), blocks.take(n.peak_blocks), 0, 0});
    }
    if (!samples.empty()) heap(" at the peak").add_dump(device_.totals.peak_ns, samples);
  }

  // Between two snapshots, only a site's difference is known. It is added to what the site allocated, or to what it
  // freed.
  void write_snapshots() {
    const std::vector<Snapshot>& snapshots = profile_.snapshots.snapshots;
    struct Step {
      uint32_t site;
      const SiteStep* step;
    };
    std::vector<std::vector<Step>> by_snapshot(snapshots.size());
    bool has_any = false;
    for (uint32_t i = 0; i < device_.sites.size(); ++i) {
      for (const SiteStep& step : device_.sites[i].steps) {
        if (step.snapshot >= snapshots.size()) continue;
        by_snapshot[step.snapshot].push_back({i, &step});
        has_any = true;
      }
    }
    if (!has_any) return;
    Room bytes;
    Room blocks;
    std::vector<HeapSample> sums(device_.sites.size());
    HeapSequence sequence = heap(" at snapshots");
    std::vector<HeapSample> samples;
    for (size_t i = 0; i < snapshots.size(); ++i) {
      samples.clear();
      for (const Step& it : by_snapshot[i]) {
        HeapSample& sum = sums[it.site];
        sum.node = device_.sites[it.site].node;
        move_to(it.step->live_bytes, &bytes, &sum.allocated_bytes, &sum.freed_bytes);
        move_to(it.step->live_blocks, &blocks, &sum.allocated_blocks, &sum.freed_blocks);
        samples.push_back(sum);
      }
      if (!samples.empty()) sequence.add_dump(snapshots[i].at_ns, samples);
    }
  }

  static void move_to(uint64_t live, Room* room, uint64_t* allocated, uint64_t* freed) {
    const uint64_t before = *allocated - *freed;
    if (live > before) *allocated += room->take(live - before);
    if (live < before) *freed += before - live;
  }

  const Profile& profile_;
  const Device& device_;
  PacketStream* packets_;
  std::vector<uint64_t> addresses_;  // by frame
};

}  // namespace

void write_heaps(const Profile& profile, const Device& device, perfetto::PacketStream* packets) {
  HeapsWriter(profile, device, packets).run();
}

}  // namespace heapprof::cli
