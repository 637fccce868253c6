// cli/read/point_reader.cc: the hot loop of reading: a large profile is nearly all program points.
#include "cli/read/point_reader.h"

#include "cli/model/profile/site_fields.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kMostPoints = 32 << 20;  // 7 GB of them: no profiler writes so many
constexpr size_t kDeepestStack = 1 << 20;

static_assert(kPointFields.size() + 2 <= 32);
constexpr uint32_t kLifetime = uint32_t{1} << kPointFields.size();
constexpr uint32_t kFrames = kLifetime << 1;

// The bits of the point fields with these needs: fields of every program point, or additional ones of profiles with
// lifetimes.
constexpr uint32_t points_that_need(SiteField::Needs needs) {
  uint32_t bits = 0;
  for (size_t i = 0; i < kPointFields.size(); ++i) bits |= kPointFields[i].needs == needs ? uint32_t{1} << i : 0;
  return bits;
}
constexpr uint32_t kRequired = points_that_need(SiteField::Needs::kNothing) | kFrames;
constexpr uint32_t kOfLifetimes = points_that_need(SiteField::Needs::kLifetimes) | kLifetime;

}  // namespace

void PointReader::read(JsonPull* json, std::vector<Site>* sites) {
  if (!json->begin_array()) return;
  while (json->next_element()) {
    if (sites->size() >= kMostPoints) {
      json->fail("there are more program points than heapprof reads");
      return;
    }
    read_point(json, &sites->emplace_back());
  }
}

void PointReader::read_point(JsonPull* json, Site* site) {
  if (!json->begin_object()) return;
  uint32_t seen = 0;
  size_t next = 0;  // files have the numbers in the order of kPointFields
  // False if the member is repeated.
  const auto is_first = [&](uint32_t bit) {
    if ((seen & bit) != 0) return json->fail("the name \"" + key_ + "\" comes twice in one object");
    seen |= bit;
    return true;
  };
  while (json->next_key(&key_)) {
    if (key_ == "fs") {
      if (is_first(kFrames)) read_stack(json, &site->node);
      continue;
    }
    if (key_ == "tl") {
      if (is_first(kLifetime)) json->read_unsigned(&site->numbers.lifetime_ns);
      continue;
    }
    size_t at = next;
    while (at < next + kPointFields.size() && kPointFields[at % kPointFields.size()].key != key_) ++at;
    if (at == next + kPointFields.size()) {
      json->skip_value();
      continue;
    }
    at %= kPointFields.size();
    next = at + 1;
    if (is_first(uint32_t{1} << at)) json->read_unsigned(&(site->numbers.*kPointFields[at].number));
  }
  if ((seen & kRequired) != kRequired) json->fail("a program point lacks tb, tbk or fs");
  all_have_lifetimes_ = all_have_lifetimes_ && (seen & kOfLifetimes) == kOfLifetimes;
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
