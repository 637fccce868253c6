// cli/collect/books/snapshot_book.cc: differences add up, so a snapshot that is dropped adds its own to the next one,
// and no site's amount at any other snapshot changes.
//
// Snapshots of marks are never dropped: they have names, and the program's author asked for each. Of those by time
// every other one is dropped, so that the rest is evenly spread over the run, as LiveSamples' moments are. With 100,000
// sites that changed all the time, dropping all these snapshots at once took 160 ms, and rings run full in that time.
// So the dropping begins while there is still room, and each new snapshot does a little of it.
#include "cli/collect/books/snapshot_book.h"

#include <algorithm>
#include <new>
#include <utility>

namespace heapprof::cli {

namespace {

void put_step(uint32_t distance, Amount more, KeptDevice* device) {
  put_number(distance, &device->steps);
  put_number(fold_sign(more.bytes), &device->steps);
  put_number(fold_sign(more.blocks), &device->steps);
  ++device->changed_sites;
}

struct Step {
  uint32_t site;
  Amount more;
};

std::vector<Step> steps_of(const KeptDevice& device) {
  std::vector<Step> steps;
  steps.reserve(device.changed_sites);
  SnapshotBook::for_each_step(device, [&](uint32_t site, Amount more) { steps.push_back({site, more}); });
  return steps;
}

// The sum of both changes, the first one's and then the second one's.
void add_changes(const KeptDevice& first, KeptDevice* second) {
  const std::vector<Step> a = steps_of(first);
  const std::vector<Step> b = steps_of(*second);
  KeptDevice sum{second->device, second->live, 0, {}, std::move(second->largest)};
  sum.steps.reserve(first.steps.size() + second->steps.size());
  uint32_t last = 0;
  const auto put = [&](uint32_t site, Amount more) {
    if (more.bytes == 0 && more.blocks == 0) return;
    put_step(site - last, more, &sum);
    last = site;
  };
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].site < b[j].site)) {
      put(a[i].site, a[i].more);
      ++i;
    } else if (i == a.size() || b[j].site < a[i].site) {
      put(b[j].site, b[j].more);
      ++j;
    } else {
      put(a[i].site, {a[i].more.bytes + b[j].more.bytes, a[i].more.blocks + b[j].more.blocks});
      ++i, ++j;
    }
  }
  sum.steps.shrink_to_fit();
  *second = std::move(sum);
}

}  // namespace

void put_number(uint64_t number, std::vector<unsigned char>* bytes) {
  for (; number >= 0x80; number >>= 7) bytes->push_back(static_cast<unsigned char>(number | 0x80));
  bytes->push_back(static_cast<unsigned char>(number));
}

void SnapshotBook::give_up() {
  lost_ += snapshots_.size();
  std::vector<KeptSnapshot>().swap(snapshots_);
  by_time_ = 0;
  last_.clear();
  pass_at_ = 0;
  pass_end_ = 0;
  step_bytes_ = 0;
  steps_ = 0;
  is_given_up_ = true;
}

// The next snapshot has all devices of this one, because a device that has had memory stays in the books.
void SnapshotBook::fold_into_next(size_t index) {
  for (const KeptDevice& device : snapshots_[index].devices) {
    for (KeptDevice& next : snapshots_[index + 1].devices) {
      if (next.device != device.device) continue;
      step_bytes_ -= device.steps.size() + next.steps.size();
      steps_ -= device.changed_sites + next.changed_sites;
      add_changes(device, &next);
      step_bytes_ += next.steps.size();
      steps_ += next.changed_sites;
    }
  }
}

bool SnapshotBook::begin_pass() {
  if (snapshots_.size() < 2) return false;
  const size_t by_time = by_time_ - (snapshots_.back().is_mark ? 0 : 1);  // the last of all stays
  if (by_time == 0 || (!is_full() && by_time < snapshots_.size() / 4)) return false;
  pass_at_ = 0;
  pass_end_ = snapshots_.size();
  ++thinnings_;
  return true;
}

// Drops the first of each pair of snapshots by time that existed when the pass began. The last snapshot of all has no
// next one, and stays.
void SnapshotBook::fold_one() {
  size_t i = pass_at_;
  while (i < pass_end_ && snapshots_[i].is_mark) ++i;
  if (i >= pass_end_ || i + 1 >= snapshots_.size()) {
    pass_at_ = pass_end_ = 0;
    return;
  }
  fold_into_next(i);
  snapshots_.erase(snapshots_.begin() + static_cast<std::ptrdiff_t>(i));
  --by_time_;
  --pass_end_;
  ++thinned_;
  while (i < pass_end_ && snapshots_[i].is_mark) ++i;
  pass_at_ = i + 1;
}

bool SnapshotBook::make_room(bool is_mark) {
  try {
    if (is_given_up_ || (is_mark && snapshots_.size() - by_time_ >= kMostMarks)) {
      ++lost_;
      return false;
    }
    if (pass_end_ == 0 && is_nearly_full()) begin_pass();
    for (int folded = 0; folded < kFoldsAtOnce && pass_end_ != 0; ++folded) fold_one();
    while (is_full()) {
      if (pass_end_ == 0 && !begin_pass()) {
        ++lost_;
        return false;
      }
      fold_one();
    }
    return true;
  } catch (const std::bad_alloc&) {
    give_up();
    ++lost_;
    return false;
  }
}

void SnapshotBook::keep_changes(const Look& look, KeptDevice* device) {
  GrowingArray<Amount>& last = last_[look.device];
  const SiteBook& sites = *look.sites;
  last.grow_to(sites.size());
  uint32_t before = 0;
  for (uint32_t site = 0; site < sites.size(); ++site) {
    const Amount live = sites[site].live;
    Amount& was = last[site];
    if (live.bytes == was.bytes && live.blocks == was.blocks) continue;
    put_step(site - before, {live.bytes - was.bytes, live.blocks - was.blocks}, device);
    before = site;
    was = live;
  }
  device->steps.shrink_to_fit();
}

void SnapshotBook::take(KeptSnapshot&& moment, const std::vector<Look>& looks) {
  try {
    if (!snapshots_.empty()) moment.ticks = std::max(moment.ticks, snapshots_.back().ticks);
    for (const Look& look : looks) {
      KeptDevice& device =
          moment.devices.emplace_back(KeptDevice{look.device, look.sites->totals().live, 0, {}, look.largest});
      keep_changes(look, &device);
      step_bytes_ += device.steps.size();
      steps_ += device.changed_sites;
    }
    snapshots_.push_back(std::move(moment));
    by_time_ += snapshots_.back().is_mark ? 0 : 1;
  } catch (const std::bad_alloc&) {
    give_up();
    ++lost_;
  }
}

uint64_t SnapshotBook::bytes() const {
  uint64_t bytes = step_bytes_ + snapshots_.size() * kSnapshotBytes;
  for (const auto& [device, last] : last_) bytes += last.size() * sizeof(Amount);
  return bytes;
}

}  // namespace heapprof::cli
