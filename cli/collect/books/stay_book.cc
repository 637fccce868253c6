// cli/collect/books/stay_book.cc: a stay names its bounds by serial numbers, so that giving up bounds changes no stay:
// stays between the same two remaining bounds are merged when the book is rebuilt, or read.
#include "cli/collect/books/stay_book.h"

#include "cli/collect/memory/prefetch.h"

#include <algorithm>
#include <new>
#include <utility>

namespace heapprof::cli {
namespace {

// Drops the closest bounds: if a program pauses for an hour, the bounds around the pause are kept. At least a quarter
// of the kind is dropped, so that this is not done again at once. Returns the least distance of two bounds of the kind
// after this; 0: there was no bound to give up.
uint64_t thin_out(std::vector<StayBound>* bounds, bool is_marked) {
  if (bounds->size() < 3) return 0;
  const uint32_t first = bounds->front().serial;
  const uint32_t last = bounds->back().serial;
  const auto is_of_kind = [&](const StayBound& bound) {
    return bound.serial != first && bound.serial != last && bound.is_marked == is_marked;
  };
  const auto count = static_cast<size_t>(std::count_if(bounds->begin(), bounds->end(), is_of_kind));
  if (count == 0) return 0;
  for (uint64_t distance = 2;; distance *= 2) {
    uint64_t before = bounds->front().ticks;
    const auto is_close = [&](const StayBound& bound) {
      if (!is_of_kind(bound)) return false;
      if (bound.ticks - before < distance) return true;
      before = bound.ticks;
      return false;
    };
    if (4 * static_cast<size_t>(std::count_if(bounds->begin(), bounds->end(), is_close)) < count) continue;
    before = bounds->front().ticks;
    std::erase_if(*bounds, is_close);  // in place, because nothing here may need memory
    return distance;
  }
}

// The table uses only the low bits of the hash, as many as its number of slots needs. (The site is in bits 32 and up of
// the key, so it changes no lower bit of the first product. With this product alone, every third site would have its
// stays next to each other.)
size_t slot_hash(uint32_t site, uint32_t begin, uint32_t end) {
  uint64_t hash = (uint64_t{site} << 32 ^ uint64_t{begin} << 16 ^ end) * 0x9E3779B97F4A7C15;
  hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93;
  return hash >> 32;
}

}  // namespace

bool thin_out(std::vector<StayBound>* bounds) { return thin_out(bounds, false) != 0 || thin_out(bounds, true) != 0; }

uint32_t stretch_index(const std::vector<StayBound>& bounds, uint32_t serial) {
  const auto behind = std::upper_bound(bounds.begin(), bounds.end(), serial,
                                       [](uint32_t at, const StayBound& bound) { return at < bound.serial; });
  return static_cast<uint32_t>(behind - bounds.begin()) - 1;
}

void StayBounds::start(uint64_t ticks) {
  bounds_.reserve(2 * kMost + 2);
  bounds_.assign(1, {ticks, ticks, next_serial_++, false});
  open_ticks_ = ticks;
  next_ticks_ = ticks + distance_;
}

uint64_t StayBounds::set(uint64_t now_ticks, uint64_t said_ticks, bool is_marked) {
  if (bounds_.empty()) return now_ticks;
  const auto is_of_kind = [is_marked](const StayBound& bound) { return bound.is_marked == is_marked; };
  if (static_cast<size_t>(std::count_if(bounds_.begin(), bounds_.end(), is_of_kind)) >= kMost) {
    const uint64_t distance = thin_out(&bounds_, is_marked);
    if (!is_marked) distance_ = std::max(distance_, distance);
  }
  // Bounds that were set before the mark come before it, even if the ledger gave them a later time.
  for (StayBound& bound : bounds_) bound.said_ticks = std::min(bound.said_ticks, said_ticks);
  open_ticks_ = now_ticks + 1;
  bounds_.push_back({open_ticks_, said_ticks, next_serial_++, is_marked});
  if (!is_marked) next_ticks_ = open_ticks_ + distance_;
  return open_ticks_;
}

void StayBounds::finish(uint64_t end_ticks) {
  if (bounds_.empty()) return;
  open_ticks_ = std::max(end_ticks, open_ticks_) + 1;
  bounds_.push_back({open_ticks_, open_ticks_, next_serial_++, true});
  next_ticks_ = UINT64_MAX;
}

void StayBounds::thin() {
  distance_ = std::max(2 * distance_, thin_out(&bounds_, false));
  if (bounds_.size() < 3) return;
  if (std::none_of(bounds_.begin() + 1, bounds_.end() - 1, [](const StayBound& bound) { return !bound.is_marked; }))
    thin_out(&bounds_, true);
}

uint32_t StayBounds::stretch_of(uint64_t ticks) {
  if (ticks >= bounds_.back().ticks) return bounds_.back().serial;  // as for the ends of most blocks
  // Blocks that end one after the other often began one after the other.
  if (latest_ + 1 < bounds_.size() && ticks >= bounds_[latest_].ticks && ticks < bounds_[latest_ + 1].ticks)
    return bounds_[latest_].serial;
  const auto behind = std::upper_bound(bounds_.begin(), bounds_.end(), ticks,
                                       [](uint64_t at, const StayBound& bound) { return at < bound.ticks; });
  latest_ = behind == bounds_.begin() ? 0 : static_cast<size_t>(behind - bounds_.begin()) - 1;
  return bounds_[latest_].serial;
}

KeptStay* StayBook::find(std::vector<KeptStay>* slots, uint32_t site, uint32_t begin, uint32_t end) {
  for (size_t at = slot_hash(site, begin, end);; ++at) {
    KeptStay& slot = (*slots)[at & (slots->size() - 1)];
    if (slot.end == 0 || (slot.site == site && slot.begin == begin && slot.end == end)) return &slot;
  }
}

double StayBook::mean_probes() const {
  uint64_t sum = 0;
  for (size_t at = 0; at < slots_.size(); ++at) {
    const KeptStay& stay = slots_[at];
    if (stay.end != 0) sum += ((at - slot_hash(stay.site, stay.begin, stay.end)) & (slots_.size() - 1)) + 1;
  }
  return used_ == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(used_);
}

void StayBook::note(uint32_t site, Life life, uint64_t bytes, uint64_t blocks) {
  if (is_given_up_) return;
  const uint32_t begin = bounds_->stretch_of(life.begin_ticks);
  const uint32_t end = bounds_->stretch_of(life.end_ticks);
  if (begin == end) return;
  if (latest_.empty()) [[unlikely]] {
    try {
      latest_.resize(kLatest);
    } catch (const std::bad_alloc&) {
      return put({site, begin, end, bytes, blocks});
    }
  }
  KeptStay& latest = latest_[site % kLatest];
  if (latest.site == site && latest.begin == begin && latest.end == end) {
    latest.bytes += bytes;
    latest.blocks += blocks;
    return;
  }
  const KeptStay before = std::exchange(latest, {site, begin, end, bytes, blocks});
  if (before.end != 0) await(before);
}

void StayBook::await(const KeptStay& stay) {
  const KeptStay oldest = std::exchange(awaited_[next_awaited_++ % kAwaited], stay);
  if (!slots_.empty()) prefetch_line(&slots_[slot_hash(stay.site, stay.begin, stay.end) & (slots_.size() - 1)]);
  if (oldest.end != 0) put(oldest);
}

void StayBook::put(const KeptStay& stay) {
  if (is_given_up_) return;
  most_site_ = std::max(most_site_, stay.site);
  if (4 * (used_ + 1) > 3 * slots_.size()) {
    make_room();
    if (is_given_up_) return;
  }
  KeptStay* slot = find(&slots_, stay.site, stay.begin, stay.end);
  if (slot->end == 0) {
    *slot = {stay.site, stay.begin, stay.end, 0, 0};
    ++used_;
  }
  slot->bytes += stay.bytes;
  slot->blocks += stay.blocks;
}

// Merges stays that no bound separates any more, in a table of that many slots. False: there is no memory.
bool StayBook::rebuild(size_t capacity) {
  std::vector<KeptStay> slots;
  try {
    slots.resize(capacity);
  } catch (const std::bad_alloc&) {
    return false;
  }
  const std::vector<StayBound>& bounds = bounds_->bounds();
  used_ = 0;
  for (const KeptStay& stay : slots_) {
    if (stay.bytes == 0 && stay.blocks == 0) continue;
    const uint32_t begin = bounds[stretch_index(bounds, stay.begin)].serial;
    const uint32_t end = bounds[stretch_index(bounds, stay.end)].serial;
    if (begin == end) continue;
    KeptStay* slot = find(&slots, stay.site, begin, end);
    if (slot->end == 0) {
      *slot = {stay.site, begin, end, 0, 0};
      ++used_;
    }
    slot->bytes += stay.bytes;
    slot->blocks += stay.blocks;
  }
  slots_ = std::move(slots);
  return true;
}

void StayBook::make_room() {
  constexpr size_t kFirstSlots = 256;
  const size_t most = std::max(kFewest, kStaysOfSite * most_site_);
  const size_t larger = std::max(kFirstSlots, 2 * slots_.size());
  is_given_up_ = !rebuild(used_ < most ? larger : slots_.size());
  while (!is_given_up_ && 2 * used_ > slots_.size()) {
    if (used_ < most) {
      is_given_up_ = !rebuild(2 * slots_.size());
    } else {
      bounds_->thin();
      is_given_up_ = bounds_->bounds().size() < 2 || !rebuild(slots_.size());
    }
  }
  if (!is_given_up_) return;
  for (std::vector<KeptStay>* stays : {&slots_, &latest_}) std::vector<KeptStay>().swap(*stays);
  awaited_ = {};
}

}  // namespace heapprof::cli
