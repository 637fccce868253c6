// cli/collect/books/device_ledger_segments.cc: a segment is driver memory in which a tensor was allocated: one
// allocation, or several adjacent mappings (an expandable segment).
//
// How the segments were used at their peak is computed when they are about to shrink for the first time after it. This
// is done rarely, because an allocator grows in thousands of steps, but frees in few.
#include "cli/collect/books/device_ledger.h"

#include <algorithm>
#include <vector>

namespace heapprof::cli {

namespace {

struct Range {
  uint64_t start;
  uint64_t end;
  bool is_mapping;
  bool is_segment;
};
struct Tensor {
  uint64_t address;
  uint64_t size_bytes;
};

uint64_t end_of(uint64_t start, uint64_t size_bytes) { return start + std::min(size_bytes, UINT64_MAX - start); }

// Adds up the tensors in the range, from *next on.
SegmentUse use_of(const Range& range, const std::vector<Tensor>& tensors, size_t* next) {
  SegmentUse use;
  use.size_bytes = range.end - range.start;
  uint64_t at = range.start;
  const auto note_gap = [&use](uint64_t bytes) {
    if (bytes == 0) return;
    ++use.gaps;
    use.largest_gap_bytes = std::max(use.largest_gap_bytes, bytes);
  };
  for (; *next < tensors.size() && tensors[*next].address < range.end; ++*next) {
    const uint64_t start = std::max(at, tensors[*next].address);
    const uint64_t end = std::min(end_of(tensors[*next].address, tensors[*next].size_bytes), range.end);
    if (end <= start) continue;
    note_gap(start - at);
    use.allocated_bytes += end - start;
    at = end;
  }
  note_gap(range.end - at);
  return use;
}

void add_segment(const SegmentUse& use, SegmentsMoment* moment) {
  moment->reserved_bytes += use.size_bytes;
  moment->allocated_bytes += use.allocated_bytes;
  ++moment->segments_count;
  if (use.allocated_bytes == 0) {
    ++moment->empty_count;
    moment->empty_bytes += use.size_bytes;
  }
  moment->largest_gap_bytes = std::max(moment->largest_gap_bytes, use.largest_gap_bytes);
  moment->segments.push_back(use);
}

void keep_emptiest(std::vector<SegmentUse>* segments) {
  std::stable_sort(segments->begin(), segments->end(), [](const SegmentUse& a, const SegmentUse& b) {
    return a.size_bytes - a.allocated_bytes > b.size_bytes - b.allocated_bytes;
  });
  if (segments->size() > kMostSegments) segments->resize(kMostSegments);
}

}  // namespace

SegmentsMoment DeviceLedger::look_at_segments(uint32_t device) const {
  SegmentsMoment moment;
  moment.at_ns = now_ticks_;
  std::vector<Range> ranges;
  for (const auto& [address, block] : memory_) {
    if (block.device == device) ranges.push_back({address, end_of(address, block.size_bytes), false, block.is_segment});
  }
  for (const auto& [address, mapping] : mappings_) {
    const auto handle = handles_.find(mapping.handle);
    if (handle != handles_.end() && handle->second.device == device)
      ranges.push_back({address, end_of(address, mapping.size_bytes), true, mapping.is_segment});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  std::vector<Range> joined;
  for (const Range& range : ranges) {
    const bool continues =
        !joined.empty() && joined.back().is_mapping && range.is_mapping && joined.back().end == range.start;
    if (!continues) {
      joined.push_back(range);
      continue;
    }
    joined.back().end = range.end;
    joined.back().is_segment = joined.back().is_segment || range.is_segment;
  }
  std::vector<Tensor> tensors;
  if (const auto blocks = inner_.find(inner_number(device)); blocks != inner_.end())
    blocks->second->for_each_live([&](const Block& block) { tensors.push_back({block.address, block.size_bytes}); });
  std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) { return a.address < b.address; });
  size_t next = 0;
  for (const Range& range : joined) {
    for (; next < tensors.size() && tensors[next].address < range.start; ++next)
      moment.elsewhere_bytes += tensors[next].size_bytes;
    const SegmentUse use = use_of(range, tensors, &next);
    if (range.is_segment) add_segment(use, &moment);
  }
  for (; next < tensors.size(); ++next) moment.elsewhere_bytes += tensors[next].size_bytes;
  keep_emptiest(&moment.segments);
  return moment;
}

void DeviceLedger::begin_segment(uint32_t device, uint64_t size_bytes) {
  Segments& segments = segments_[device];
  segments.reserved_bytes += size_bytes;
  segments.peak_bytes = std::max(segments.peak_bytes, segments.reserved_bytes);
}

// pre: its memory is still in the tables
void DeviceLedger::end_segment(uint32_t device, uint64_t size_bytes) {
  Segments& segments = segments_[device];
  if (segments.reserved_bytes == segments.peak_bytes && segments.looked_bytes != segments.peak_bytes) {
    segments.looked_bytes = segments.peak_bytes;
    segments.at_peak = look_at_segments(device);
  }
  segments.reserved_bytes -= std::min(segments.reserved_bytes, size_bytes);
}

void DeviceLedger::end_mapping_segment(const Mapping& mapping) {
  if (!mapping.is_segment) return;
  if (const auto handle = handles_.find(mapping.handle); handle != handles_.end())
    end_segment(handle->second.device, mapping.size_bytes);
}

// Memory that contains a tensor is a segment from now on.
void DeviceLedger::enter_segments(uint32_t device, uint64_t address, uint64_t size_bytes) {
  auto block = memory_.upper_bound(address);
  if (block != memory_.begin() && address - (--block)->first < block->second.size_bytes) {
    if (block->second.device != device || block->second.is_segment) return;
    block->second.is_segment = true;
    return begin_segment(device, block->second.size_bytes);
  }
  auto mapping = mappings_.upper_bound(address);
  if (mapping == mappings_.begin()) return;
  for (--mapping; mapping != mappings_.end() && mapping->first < end_of(address, size_bytes); ++mapping) {
    const bool is_behind = end_of(mapping->first, mapping->second.size_bytes) <= address;
    const auto handle = handles_.find(mapping->second.handle);
    if (is_behind || mapping->second.is_segment || handle == handles_.end() || handle->second.device != device)
      continue;
    mapping->second.is_segment = true;
    begin_segment(device, mapping->second.size_bytes);
  }
}

SegmentsUse DeviceLedger::segments_of(uint32_t device) const {
  SegmentsUse use;
  const auto at = segments_.find(device);
  const bool has_tensors = inner_.count(inner_number(device)) != 0;
  if (at == segments_.end() && !has_tensors) return use;
  use.at_end = look_at_segments(device);
  const bool is_at_peak = at == segments_.end() || at->second.looked_bytes != at->second.peak_bytes;
  use.at_peak = is_at_peak ? use.at_end : at->second.at_peak;
  if (at != segments_.end()) use.at_refusal = at->second.at_refusal;
  return use;
}

}  // namespace heapprof::cli
