// cli/write/export/pprof.cc: the messages of profile.proto, written with protozero; fields of the top message may come
// in any order, so samples go out as they are made, and the tables that they filled follow.
#include "cli/write/export/pprof.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/encode/gzip_sink.h"
#include "cli/write/export/pprof_drop.h"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

// The numbers of fields in profile.proto.
namespace top {
enum : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample,
  kMapping,
  kLocation,
  kFunction,
  kStringTable,
  kDropFrames,
  kTimeNanos = 9,
  kDurationNanos,
  kPeriodType,
  kPeriod,
  kComment,
  kDefaultSampleType
};
}
namespace value_type {
enum : protozero::pbf_tag_type { kType = 1, kUnit };
}
namespace sample {
enum : protozero::pbf_tag_type { kLocationId = 1, kValue, kLabel };
}
namespace label {
enum : protozero::pbf_tag_type { kKey = 1, kText };
}
namespace mapping {
enum : protozero::pbf_tag_type {
  kId = 1,
  kStart,
  kLimit,
  kOffset,
  kFile,
  kBuildId,
  kHasFunctions,
  kHasFiles,
  kHasLines,
  kHasInlined
};
}
namespace location {
enum : protozero::pbf_tag_type { kId = 1, kMapping, kAddress, kLine };
}
namespace line {
enum : protozero::pbf_tag_type { kFunction = 1, kLine };
}
namespace function {
// No system name: of functions that have one pprof takes the name for a mangled one, and cuts template arguments out of
// it.
enum : protozero::pbf_tag_type { kId = 1, kName, kFile = 4 };
}  // namespace function

struct SampleType {
  const char* type;
  const char* unit;
  Metric metric;  // that asks for it as the first to be shown
  bool is_shown_for_metric;
  uint64_t (*value)(const SiteNumbers&);
};

constexpr SampleType kTypes[] = {
    {"alloc_objects", "count", Metric::kAllocations, true, [](const SiteNumbers& n) { return n.total_blocks; }},
    {"alloc_space", "bytes", Metric::kTotal, true, [](const SiteNumbers& n) { return n.total_bytes; }},
    {"inuse_objects", "count", Metric::kLeaked, false, [](const SiteNumbers& n) { return n.leaked_blocks; }},
    {"inuse_space", "bytes", Metric::kLeaked, true, [](const SiteNumbers& n) { return n.leaked_bytes; }},
    {"peak_objects", "count", Metric::kPeak, false, [](const SiteNumbers& n) { return n.peak_blocks; }},
    {"peak_space", "bytes", Metric::kPeak, true, [](const SiteNumbers& n) { return n.peak_bytes; }},
    {"temporary_objects", "count", Metric::kTemporary, true, [](const SiteNumbers& n) { return n.temporary_blocks; }},
};

int64_t as_signed(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

class PprofWriter {
 public:
  PprofWriter(const Profile& profile, const ExportView& view, ByteSink* sink)
      : profile_(profile), view_(view), sink_(sink), top_(data_) {
    intern("");
    location_of_.resize(std::max<size_t>(profile.nodes.size(), 1));
  }

  void run() {
    write_types();
    number_mappings();
    if (!profile_.devices.empty()) {
      const Device& device = exported_device(profile_, view_);
      top_.add_int64(top::kDropFrames, intern(dropped_frames(profile_, device)));
      device_key_ = intern("device");
      device_name_ = intern(device.name);
      for (const Site& site : device.sites) write_sample(site);
    }
    write_head();
    write_mappings();
    for (const std::string& text : strings_) {
      top_.add_string(top::kStringTable, text);
      pass_on();
    }
    sink_->write(data_);
  }

 private:
  static constexpr size_t kBufferBytes = 64 << 10;
  static constexpr uint64_t kNoMapping = 0;

  void pass_on() {
    if (data_.size() < kBufferBytes) return;
    sink_->write(data_);
    data_.clear();
  }

  int64_t intern(const std::string& text) {
    const auto [entry, is_new] = string_ids_.emplace(escape_controls(text), static_cast<int64_t>(strings_.size()));
    if (is_new) strings_.push_back(entry->first);
    return entry->second;
  }

  void write_value_type(protozero::pbf_tag_type tag, const char* type, const char* unit) {
    protozero::pbf_writer message(top_, tag);
    message.add_int64(value_type::kType, intern(type));
    message.add_int64(value_type::kUnit, intern(unit));
  }

  void write_types() {
    for (const SampleType& type : kTypes) {
      if (!has_metric(profile_, type.metric)) continue;
      types_.push_back(&type);
      write_value_type(top::kSampleType, type.type, type.unit);
      if (type.is_shown_for_metric && type.metric == exported_metric(profile_, view_)) default_type_ = type.type;
    }
  }

  void write_head() {
    const RunInfo& run = profile_.run;
    top_.add_int64(top::kTimeNanos, run.start_unix_ns);
    if (profile_.time_unit == "ns") top_.add_int64(top::kDurationNanos, as_signed(run.duration_ns));
    write_value_type(top::kPeriodType, "space", "bytes");
    top_.add_int64(top::kPeriod, 1);  // nothing is sampled
    std::string comment = "heapprof " HEAPPROF_VERSION;
    if (!profile_.devices.empty()) comment += ", device " + exported_device(profile_, view_).name;
    top_.add_int64(top::kComment, intern(comment));
    std::string command;
    for (const std::string& word : run.command) command += (command.empty() ? "" : " ") + word;
    top_.add_int64(top::kComment, intern(command));
    write_threads();
    top_.add_int64(top::kDefaultSampleType, intern(default_type_));
  }

  // Which thread allocated what is known of the heap in all, not of each stack: comments, not labels.
  void write_threads() {
    constexpr size_t kMost = 3;  // viewers print comments above their tables
    const RunInfo& run = profile_.run;
    if (profile_.devices.empty() || &exported_device(profile_, view_) != &profile_.devices.front()) return;
    for (size_t i = 0; i < std::min(run.threads.size(), kMost); ++i) {
      const Thread& thread = run.threads[i];
      top_.add_int64(top::kComment, intern(fmt::format("thread {} {}: {} in {}", thread.id, thread.name,
                                                       format_bytes(thread.total_bytes),
                                                       format_counted(thread.allocations, "allocation"))));
    }
  }

  // ---- modules ----

  struct Mapping {
    uint64_t id = 0;
    uint64_t start = 0;
    uint64_t limit = 0;
  };

  // One behind the other, the executable first: viewers take the first mapping for the program.
  void number_mappings() {
    constexpr uint64_t kAlign = 1 << 16;
    constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // of one module; and 2^16 of them fit
    std::vector<uint64_t> ends(profile_.modules.size());
    for (const Frame& frame : profile_.frames) {
      if (frame.module < ends.size()) ends[frame.module] = std::max(ends[frame.module], frame.svma);
    }
    for (uint32_t i = 0; i < ends.size(); ++i) order_.push_back(i);
    std::stable_partition(order_.begin(), order_.end(),
                          [&](uint32_t i) { return profile_.modules[i].path == profile_.run.executable; });
    mappings_.resize(ends.size());
    uint64_t start = kAlign;
    for (size_t i = 0; i < order_.size(); ++i) {
      Mapping& mapping = mappings_[order_[i]];
      mapping.id = i + 1;
      const uint64_t end = ends[order_[i]];
      if (end >= kMostBytes || start >= uint64_t{1} << 62) continue;  // no such module: its addresses stay as they are
      mapping.start = start;
      mapping.limit = start + (end / kAlign + 1) * kAlign;
      start = mapping.limit;
    }
  }

  void write_mappings() {
    for (const uint32_t i : order_) {
      const Mapping& mapping = mappings_[i];
      protozero::pbf_writer message(top_, top::kMapping);
      message.add_uint64(mapping::kId, mapping.id);
      message.add_uint64(mapping::kStart, mapping.start);
      message.add_uint64(mapping::kLimit, mapping.limit);
      message.add_int64(mapping::kFile, intern(profile_.modules[i].path));
      message.add_int64(mapping::kBuildId, intern(profile_.modules[i].build_id));
      for (const auto tag : {mapping::kHasFunctions, mapping::kHasFiles, mapping::kHasLines, mapping::kHasInlined})
        message.add_bool(tag, true);
    }
  }

  // ---- stacks ----

  struct NodeLocation {
    uint64_t id = 0;    // 0: not made yet
    uint32_t next = 0;  // the node outside of the location
  };

  uint64_t function_id(const Frame& frame) {
    const int64_t name = intern(frame_label(profile_, frame));
    const int64_t file = intern(frame.file);
    const auto [entry, is_new] = function_ids_.emplace(std::make_pair(name, file), function_ids_.size() + 1);
    if (is_new) {
      protozero::pbf_writer message(top_, top::kFunction);
      message.add_uint64(function::kId, entry->second);
      message.add_int64(function::kName, name);
      message.add_int64(function::kFile, file);
    }
    return entry->second;
  }

  // The location whose innermost frame is at `node`: that frame, and while it is inlined what it is inlined into.
  const NodeLocation& location_at(uint32_t node) {
    NodeLocation& known = location_of_[node];
    if (known.id != 0) return known;
    std::vector<uint32_t> frames;
    uint32_t at = node;
    while (at != 0) {
      const FrameNode& entry = profile_.nodes[at];
      frames.push_back(entry.frame);
      at = entry.parent;
      const Frame& frame = profile_.frames[entry.frame];
      if (!frame.inlined || at == 0) break;
      const Frame& outer = profile_.frames[profile_.nodes[at].frame];
      if (outer.module != frame.module || outer.svma != frame.svma) break;  // not of one place: an odd file
    }
    const auto [entry, is_new] = location_ids_.emplace(frames, location_ids_.size() + 1);
    if (is_new) write_location(entry->second, frames);
    known = {entry->second, at};
    return known;
  }

  void write_location(uint64_t id, const std::vector<uint32_t>& frames) {
    std::vector<std::pair<uint64_t, uint32_t>> lines;  // functions go out before the message that names them is begun
    for (const uint32_t frame : frames) {
      if (frame == kNoFrame) {
        Frame nothing;
        nothing.function = kNoStackText;
        lines.emplace_back(function_id(nothing), 0);
      } else {
        lines.emplace_back(function_id(profile_.frames[frame]), profile_.frames[frame].line);
      }
    }
    protozero::pbf_writer message(top_, top::kLocation);
    message.add_uint64(location::kId, id);
    if (frames.front() != kNoFrame) {
      const Frame& frame = profile_.frames[frames.front()];
      const Mapping mapping = frame.module < mappings_.size() ? mappings_[frame.module] : Mapping{};
      if (mapping.id != kNoMapping) message.add_uint64(location::kMapping, mapping.id);
      message.add_uint64(location::kAddress, mapping.start + frame.svma);
    }
    for (const auto& [function, number] : lines) {
      protozero::pbf_writer part(message, location::kLine);
      part.add_uint64(line::kFunction, function);
      part.add_int64(line::kLine, number);
    }
  }

  void write_sample(const Site& site) {
    values_.clear();
    for (const SampleType* type : types_) values_.push_back(as_signed(type->value(site.numbers)));
    if (std::all_of(values_.begin(), values_.end(), [](int64_t value) { return value == 0; })) return;
    stack_.clear();
    if (site.node == 0) stack_.push_back(no_stack_location());
    for (uint32_t node = site.node; node != 0;) {
      const NodeLocation& location = location_at(node);
      stack_.push_back(location.id);
      node = location.next;
    }
    {
      protozero::pbf_writer message(top_, top::kSample);
      message.add_packed_uint64(sample::kLocationId, stack_.begin(), stack_.end());
      message.add_packed_int64(sample::kValue, values_.begin(), values_.end());
      protozero::pbf_writer part(message, sample::kLabel);
      part.add_int64(label::kKey, device_key_);
      part.add_int64(label::kText, device_name_);
    }
    pass_on();
  }

  uint64_t no_stack_location() {
    const auto [entry, is_new] = location_ids_.emplace(std::vector<uint32_t>{kNoFrame}, location_ids_.size() + 1);
    if (is_new) write_location(entry->second, entry->first);
    return entry->second;
  }

  static constexpr uint32_t kNoFrame = UINT32_MAX;

  const Profile& profile_;
  const ExportView& view_;
  ByteSink* sink_;
  std::string data_;
  protozero::pbf_writer top_;
  std::unordered_map<std::string, int64_t> string_ids_;
  std::vector<std::string> strings_;
  std::vector<const SampleType*> types_;
  std::string default_type_;
  int64_t device_key_ = 0;
  int64_t device_name_ = 0;
  std::vector<uint32_t> order_;    // of modules, in the file
  std::vector<Mapping> mappings_;  // by module
  std::map<std::pair<int64_t, int64_t>, uint64_t> function_ids_;
  std::map<std::vector<uint32_t>, uint64_t> location_ids_;  // by frames, the innermost first
  std::vector<NodeLocation> location_of_;                   // by node
  std::vector<uint64_t> stack_;
  std::vector<int64_t> values_;
};

}  // namespace

void write_pprof(const Profile& profile, const ExportView& view, ByteSink* sink) {
  GzipSink packed(sink);
  PprofWriter(profile, view, &packed).run();
  packed.finish();
}

}  // namespace heapprof::cli
