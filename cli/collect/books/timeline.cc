// cli/collect/books/timeline.cc: see timeline.h.
#include "cli/collect/books/timeline.h"

namespace heapprof::cli {

void LiveTimeline::advance(uint64_t ticks) {
  uint64_t index = (ticks - start_ticks_) >> width_log2_;
  while (index >= kMaxBuckets) {  // merge pairs; with an odd number of closed buckets, the last one pairs with open_
    const bool open_is_second = closed_.size() % 2 == 1;
    if (open_is_second) {
      open_.min_bytes = std::min(open_.min_bytes, closed_.back().min_bytes);
      open_.max_bytes = std::max(open_.max_bytes, closed_.back().max_bytes);
      closed_.pop_back();
    }
    for (size_t i = 0; i < closed_.size() / 2; ++i) {
      closed_[i] = {std::min(closed_[2 * i].min_bytes, closed_[2 * i + 1].min_bytes),
                    std::max(closed_[2 * i].max_bytes, closed_[2 * i + 1].max_bytes)};
    }
    closed_.resize(closed_.size() / 2);
    ++width_log2_;
    index >>= 1;
  }
  while (closed_.size() < index) {
    closed_.push_back(open_);
    open_ = {last_bytes_, last_bytes_};
  }
  // For a time stamp near 2^64 the end may wrap around, but not more than once, because there are at most kMaxBuckets
  // buckets, each at most 2^52 ticks wide.
  open_end_ticks_ = start_ticks_ + ((closed_.size() + 1) << width_log2_);
  if (open_end_ticks_ <= start_ticks_) open_end_ticks_ = UINT64_MAX;
}

std::vector<LiveTimeline::Bucket> LiveTimeline::buckets(uint64_t end_ticks) {
  if (end_ticks >= open_end_ticks_) advance(end_ticks);
  std::vector<Bucket> all = closed_;
  all.push_back(open_);
  return all;
}

}  // namespace heapprof::cli
