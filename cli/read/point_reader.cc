// cli/read/point_reader.cc: the hot loop of reading: a large profile is nearly all program points.
#include "cli/read/point_reader.h"

#include "cli/read/field_reader.h"

namespace heapprof::cli {
namespace {

constexpr size_t kMostSites = 32 << 20;  // 7 GB of them: no profiler writes so many
constexpr size_t kDeepestStack = 1 << 20;

constexpr std::array<std::string_view, 10> kPointKeys = {"tb",  "tbk", "fs",  "tl", "mb",
                                                         "mbk", "gb",  "gbk", "eb", "ebk"};
enum PointKey {
  kTotalBytes,
  kTotalBlocks,
  kFrames,
  kLifetime,
  kMaxBytes,
  kMaxBlocks,
  kPeakBytes,
  kPeakBlocks,
  kLeakedBytes,
  kLeakedBlocks
};

}  // namespace

void PointReader::read(JsonPull* json, std::vector<Site>* sites) {
  if (!json->begin_array()) return;
  while (json->next_element()) {
    if (sites->size() >= kMostSites) {
      json->fail("there are more program points than heapprof reads");
      return;
    }
    read_point(json, &sites->emplace_back());
  }
}

void PointReader::read_point(JsonPull* json, Site* site) {
  if (!json->begin_object()) return;
  KeySet<kPointKeys.size()> keys(kPointKeys);
  SiteNumbers& n = site->numbers;
  while (json->next_key(&key_)) {
    switch (keys.take(key_, json)) {
      case kTotalBytes: json->read_unsigned(&n.total_bytes); break;
      case kTotalBlocks: json->read_unsigned(&n.total_blocks); break;
      case kLifetime: json->read_unsigned(&n.lifetime_ns); break;
      case kMaxBytes: json->read_unsigned(&n.max_bytes); break;
      case kMaxBlocks: json->read_unsigned(&n.max_blocks); break;
      case kPeakBytes: json->read_unsigned(&n.peak_bytes); break;
      case kPeakBlocks: json->read_unsigned(&n.peak_blocks); break;
      case kLeakedBytes: json->read_unsigned(&n.leaked_bytes); break;
      case kLeakedBlocks: json->read_unsigned(&n.leaked_blocks); break;
      case kFrames: read_stack(json, &site->node); break;
      default: json->skip_value();
    }
  }
  if (!keys.has(kTotalBytes) || !keys.has(kTotalBlocks) || !keys.has(kFrames))
    json->fail("a program point lacks tb, tbk or fs");
  for (size_t key = kLifetime; key <= kLeakedBlocks; ++key) all_have_lifetimes_ = all_have_lifetimes_ && keys.has(key);
}

void PointReader::read_stack(JsonPull* json, uint32_t* node) {
  if (!json->begin_array()) return;
  stack_.clear();
  while (json->next_element()) {
    uint64_t frame = 0;
    if (!json->read_unsigned(&frame)) return;
    if (frame == 0 || frame > UINT32_MAX) {
      json->fail("a program point names frame " + std::to_string(frame));
      return;
    }
    if (stack_.size() >= kDeepestStack) {
      json->fail("a program point has more than a million frames");
      return;
    }
    largest_frame_ = std::max(largest_frame_, frame);
    stack_.push_back(static_cast<uint32_t>(frame));
  }
  for (auto frame = stack_.rbegin(); frame != stack_.rend(); ++frame) *node = table_.intern(*node, *frame);
}

}  // namespace heapprof::cli
