// cli/write/export/pprof.cc: the messages of profile.proto, written with protozero.
// Fields of the top message may come in any order. So samples are written as they are made, and the tables that the
// samples filled come last.
#include "cli/write/export/pprof.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/sampling.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/encode/gzip_sink.h"
#include "cli/write/export/pprof_drop.h"
#include "cli/write/export/pprof_fields.h"

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

using namespace pprof;

int64_t as_signed(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

// Builds the bytes of one file, its strings and functions. The parts are added one after the other.
class PprofWriter {
 public:
  PprofWriter(std::vector<GoHeapPart> parts, ByteSink* sink) : parts_(std::move(parts)), sink_(sink), top_(data_) {
    intern("");
    number_mappings();
  }

  // Writes all metrics of one profile.
  void run(const ExportView& view) {
    const Profile& profile = *parts_.front().profile;
    for (const SampleType& type : kTypes) {
      if (!has_metric(profile, type.metric)) continue;
      add_type(type);
      if (type.is_shown_for_metric && type.metric == exported_metric(profile, view)) default_type_ = type.type;
    }
    const GoHeapPart& part = parts_.front();
    if (part.device != nullptr) {
      find_cuts();
      begin(part);
      for (size_t i = 0; i < part.device->sites.size(); ++i) {
        if (read_site(part.device->sites[i], (*cuts_of_part_)[i])) write_sample(stack_, values_, labels_of(part));
      }
    }
    write_head(profile, part.device);
    write_tables();
  }

  // Writes Go's metrics of all parts.
  void run(const GoHeapView& view) {
    for (const SampleType& type : kTypes) {
      if (type.metric == Metric::kPeak || type.metric == Metric::kTemporary) continue;
      add_type(type);
    }
    default_type_ = view.shows_allocations ? "alloc_space" : "inuse_space";
    find_cuts();
    std::map<std::pair<Labels, std::vector<uint64_t>>, std::vector<int64_t>> samples;
    for (const GoHeapPart& part : parts_) {
      begin(part);
      const Labels labels = labels_of(part);
      for (size_t site = 0; site < part.device->sites.size(); ++site) {
        if (!read_site(part.device->sites[site], (*cuts_of_part_)[site])) continue;
        std::vector<int64_t>& sums = samples[{labels, stack_}];
        sums.resize(values_.size());
        for (size_t i = 0; i < values_.size(); ++i)
          sums[i] = add(sums[i], part.is_subtracted ? -values_[i] : values_[i]);
      }
    }
    for (const auto& [key, values] : samples) {
      if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value != 0; }))
        write_sample(key.second, values, key.first);
    }
    top_.add_int64(top::kTimeNanos, view.time_unix_ns);
    if (view.duration_ns != 0) top_.add_int64(top::kDurationNanos, as_signed(view.duration_ns));
    write_period();
    for (const std::string& comment : view.comments) top_.add_int64(top::kComment, intern(comment));
    top_.add_int64(top::kDefaultSampleType, intern(default_type_));
    write_tables();
  }

 private:
  using Labels = std::vector<std::pair<int64_t, int64_t>>;  // keys and values, as indexes in the string table

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

  static int64_t add(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
  }

  void add_type(const SampleType& type) {
    types_.push_back(&type);
    write_value_type(top::kSampleType, type.type, type.unit);
  }

  void write_period(uint64_t interval_bytes = 0) {  // 0: not sampled
    write_value_type(top::kPeriodType, "space", "bytes");
    top_.add_int64(top::kPeriod, as_signed(std::max<uint64_t>(interval_bytes, 1)));
  }

  void write_tables() {
    write_mappings();
    for (const std::string& text : strings_) {
      top_.add_string(top::kStringTable, text);
      pass_on();
    }
    sink_->write(data_);
  }

  void write_head(const Profile& profile, const Device* device) {
    const RunInfo& run = profile.run;
    top_.add_int64(top::kTimeNanos, run.start_unix_ns);
    if (profile.time_unit == "ns") top_.add_int64(top::kDurationNanos, as_signed(run.duration_ns));
    const uint64_t interval_bytes = device == nullptr ? run.sampling.interval_bytes : interval_of(profile, *device);
    write_period(interval_bytes);
    std::string comment = "heapprof " HEAPPROF_VERSION + (device == nullptr ? "" : ", device " + device->name);
    if (interval_bytes != 0) comment += sampling_comment(profile);
    top_.add_int64(top::kComment, intern(comment));
    std::string command;
    for (const std::string& word : run.command) command += (command.empty() ? "" : " ") + word;
    top_.add_int64(top::kComment, intern(command));
    if (device != nullptr && device == &profile.devices.front()) write_threads(run);
    top_.add_int64(top::kDefaultSampleType, intern(default_type_));
  }

  // What each thread allocated is known for the heap in total, not by stack. So it is written as comments, not as
  // labels.
  void write_threads(const RunInfo& run) {
    constexpr size_t kMost = 3;  // viewers print comments above their tables
    for (size_t i = 0; i < std::min(run.threads.size(), kMost); ++i) {
      const Thread& thread = run.threads[i];
      top_.add_int64(top::kComment, intern(fmt::format("thread {} {}: {} in {}", thread.id, thread.name,
                                                       format_bytes(thread.total_bytes),
                                                       format_counted(thread.allocations, "allocation"))));
    }
  }

  // ---- modules ----

  struct Mapping {
    ProfileModule module;
    uint64_t id = 0;
    uint64_t start = 0;
    uint64_t limit = 0;
    uint64_t end = 0;  // the largest used address in its file
  };

  // Numbers the modules of all parts, each once. The first part's executable comes first, because viewers treat the
  // first mapping as the program. The modules' address ranges follow each other.
  void number_mappings() {
    constexpr uint64_t kAlign = 1 << 16;
    constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // of one module; 2^16 such modules fit
    std::map<std::pair<std::string, std::string>, size_t> known;
    for (const GoHeapPart& part : parts_) {
      std::vector<size_t>& of_part = mapping_of_module_.emplace_back();
      for (const ProfileModule& module : part.profile->modules) {
        // If one profile lists a module twice, both are kept; only modules of different parts are shared.
        const auto [entry, is_new] = known.emplace(std::make_pair(module.path, module.build_id), mappings_.size());
        const bool is_shared = !is_new && entry->second < first_of_part_;
        if (!is_shared) mappings_.push_back({.module = module});
        of_part.push_back(is_shared ? entry->second : mappings_.size() - 1);
      }
      for (const Frame& frame : part.profile->frames) {
        if (frame.module >= of_part.size()) continue;
        uint64_t& end = mappings_[of_part[frame.module]].end;
        end = std::max(end, frame.svma);
      }
      first_of_part_ = mappings_.size();
    }
    for (uint32_t i = 0; i < mappings_.size(); ++i) order_.push_back(i);
    const std::string& executable = parts_.empty() ? std::string() : parts_.front().profile->run.executable;
    std::stable_partition(order_.begin(), order_.end(),
                          [&](uint32_t i) { return mappings_[i].module.path == executable; });
    uint64_t start = kAlign;
    for (size_t i = 0; i < order_.size(); ++i) {
      Mapping& mapping = mappings_[order_[i]];
      mapping.id = i + 1;
      if (mapping.end >= kMostBytes || start >= uint64_t{1} << 62)
        continue;  // no module is so large: its addresses stay unchanged
      mapping.start = start;
      mapping.limit = start + (mapping.end / kAlign + 1) * kAlign;
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
      message.add_int64(mapping::kFile, intern(mapping.module.path));
      message.add_int64(mapping::kBuildId, intern(mapping.module.build_id));
      for (const auto tag : {mapping::kHasFunctions, mapping::kHasFiles, mapping::kHasLines, mapping::kHasInlined})
        message.add_bool(tag, true);
    }
  }

  // ---- stacks ----

  void find_cuts() {
    std::vector<PprofDevice> devices;
    for (const GoHeapPart& part : parts_) devices.push_back({part.profile, part.device});
    cuts_ = find_pprof_cuts(devices);
    top_.add_int64(top::kDropFrames, intern(cuts_.expression));
  }

  // From this call on, nodes and frames are those of this part.
  void begin(const GoHeapPart& part) {
    const auto number = static_cast<size_t>(&part - parts_.data());
    profile_ = part.profile;
    modules_ = &mapping_of_module_[number];
    cuts_of_part_ = &cuts_.marked[number];
    location_of_.assign(std::max<size_t>(part.profile->nodes.size(), 1), {});
  }

  Labels labels_of(const GoHeapPart& part) {
    Labels labels = {{intern("device"), intern(part.device->name)}};
    for (const auto& [key, text] : part.labels) {
      const int64_t id = intern(key);
      labels.emplace_back(id, intern(text));
    }
    return labels;
  }

  struct NodeLocation {
    uint64_t id = 0;    // 0: not made yet
    uint32_t next = 0;  // the next node outwards after the location's frames
  };

  uint64_t function_id(const Frame& frame, bool is_marked = false) {
    const int64_t name = intern(std::string(is_marked ? kCutMark : "") + frame_label(*profile_, frame));
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

  // The location whose innermost frame is at `node`: that frame, and the frames that it is inlined into. `marked` is a
  // node of the same stack whose frame gets the mark; 0: none does.
  NodeLocation location_at(uint32_t node, uint32_t marked) {
    NodeLocation& known = location_of_[node];
    if (known.id == 0) known = make_location(node, 0);
    const bool has_marked = marked <= node && marked > known.next;  // outer nodes have smaller numbers
    return has_marked ? make_location(node, marked) : known;
  }

  NodeLocation make_location(uint32_t node, uint32_t marked) {
    std::vector<uint32_t> frames;
    size_t marked_frame = SIZE_MAX;
    uint32_t at = node;
    while (at != 0) {
      const FrameNode& entry = profile_->nodes[at];
      if (at == marked) marked_frame = frames.size();
      frames.push_back(entry.frame);
      at = entry.parent;
      const Frame& frame = profile_->frames[entry.frame];
      if (!frame.inlined || at == 0) break;
      const Frame& outer = profile_->frames[profile_->nodes[at].frame];
      if (outer.module != frame.module || outer.svma != frame.svma) break;  // inlined at another address: malformed
    }
    return {location_id(frames, marked_frame), at};
  }

  // Finds the id by the location's content, so that two parts share equal locations.
  uint64_t location_id(const std::vector<uint32_t>& frames, size_t marked_frame) {
    Location where;
    for (size_t i = 0; i < frames.size(); ++i) {
      if (frames[i] == kNoFrame) {
        Frame nothing;
        nothing.function = kNoStackText;
        where.lines.emplace_back(function_id(nothing), 0);
      } else {
        const Frame& frame = profile_->frames[frames[i]];
        where.lines.emplace_back(function_id(frame, i == marked_frame), frame.line);
      }
    }
    if (frames.front() != kNoFrame) {
      const Frame& frame = profile_->frames[frames.front()];
      const Mapping* mapping = frame.module < modules_->size() ? &mappings_[(*modules_)[frame.module]] : nullptr;
      where.mapping = mapping == nullptr ? kNoMapping : mapping->id;
      where.address = (mapping == nullptr ? 0 : mapping->start) + frame.svma;
      where.has_address = true;
    }
    const auto [entry, is_new] = location_ids_.emplace(std::move(where), location_ids_.size() + 1);
    if (is_new) write_location(entry->second, entry->first);
    return entry->second;
  }

  struct Location {
    uint64_t mapping = kNoMapping;
    uint64_t address = 0;
    bool has_address = false;
    std::vector<std::pair<uint64_t, uint32_t>> lines;  // functions, the innermost first

    auto operator<=>(const Location&) const = default;
  };

  void write_location(uint64_t id, const Location& where) {
    protozero::pbf_writer message(top_, top::kLocation);
    message.add_uint64(location::kId, id);
    if (where.mapping != kNoMapping) message.add_uint64(location::kMapping, where.mapping);
    if (where.has_address) message.add_uint64(location::kAddress, where.address);
    for (const auto& [function, number] : where.lines) {
      protozero::pbf_writer part(message, location::kLine);
      part.add_uint64(line::kFunction, function);
      part.add_int64(line::kLine, number);
    }
  }

  // Reads the site's numbers and stack; returns false if all numbers are 0.
  bool read_site(const Site& site, uint32_t marked) {
    values_.clear();
    for (const SampleType* type : types_) values_.push_back(as_signed(type->value(site.numbers)));
    if (std::all_of(values_.begin(), values_.end(), [](int64_t value) { return value == 0; })) return false;
    stack_.clear();
    if (site.node == 0) stack_.push_back(location_id({kNoFrame}, SIZE_MAX));
    for (uint32_t node = site.node; node != 0;) {
      const NodeLocation location = location_at(node, marked);
      stack_.push_back(location.id);
      node = location.next;
    }
    return true;
  }

  void write_sample(const std::vector<uint64_t>& stack, const std::vector<int64_t>& values, const Labels& labels) {
    {
      protozero::pbf_writer message(top_, top::kSample);
      message.add_packed_uint64(sample::kLocationId, stack.begin(), stack.end());
      message.add_packed_int64(sample::kValue, values.begin(), values.end());
      for (const auto& [key, text] : labels) {
        protozero::pbf_writer part(message, sample::kLabel);
        part.add_int64(label::kKey, key);
        part.add_int64(label::kText, text);
      }
    }
    pass_on();
  }

  static constexpr uint32_t kNoFrame = UINT32_MAX;

  const std::vector<GoHeapPart> parts_;
  ByteSink* sink_;
  std::string data_;
  protozero::pbf_writer top_;
  std::unordered_map<std::string, int64_t> string_ids_;
  std::vector<std::string> strings_;
  std::vector<const SampleType*> types_;
  std::string default_type_;
  std::vector<Mapping> mappings_;
  std::vector<uint32_t> order_;                         // the mappings' order in the file
  std::vector<std::vector<size_t>> mapping_of_module_;  // by part and module
  size_t first_of_part_ = 0;
  std::map<std::pair<int64_t, int64_t>, uint64_t> function_ids_;
  std::map<Location, uint64_t> location_ids_;
  // State of the part that is being written.
  const Profile* profile_ = nullptr;
  PprofCuts cuts_;
  const std::vector<uint32_t>* cuts_of_part_ = nullptr;
  const std::vector<size_t>* modules_ = nullptr;
  std::vector<NodeLocation> location_of_;  // by node
  std::vector<uint64_t> stack_;
  std::vector<int64_t> values_;
};

}  // namespace

void write_pprof(const Profile& profile, const ExportView& view, ByteSink* sink) {
  GzipSink packed(sink);
  const Device* const device = profile.devices.empty() ? nullptr : &exported_device(profile, view);
  PprofWriter({{&profile, device, {}}}, &packed).run(view);
  packed.finish();
}

void write_go_heap(std::span<const GoHeapPart> parts, const GoHeapView& view, ByteSink* sink) {
  GzipSink packed(sink);
  PprofWriter({parts.begin(), parts.end()}, &packed).run(view);
  packed.finish();
}

}  // namespace heapprof::cli
