// cli/collect/books/snapshot_book.h: what was live at the program's marks and at moments in between, by site
// (heapprof run --interval).
//
// A snapshot keeps, for each device, the sites that changed since the previous one, as differences: three short numbers
// a site. To find them, all sites are compared with their previous values.
//
// Guarantees
//  - A snapshot is exact for the order of events that the ledger has seen by then, for every site.
//  - Memory is bounded: kMost snapshots, of which kMostMarks are of marks, and kMostSteps changes of their sites.
//    Before either limit is reached, every other snapshot by time is merged into the next one. If no snapshot by time
//    is left, further snapshots are not taken, only counted.
//  - Without memory all snapshots are given up and counted; nothing is thrown.
// Context:  one thread.
// Trust:    every number is the target's; differences are modulo 2^64.
// Cost:     a snapshot: measured in tests/bench/runs/2026-11-24-snapshots.md; between two of them
//           nothing. 16 bytes a site, and about 7 for each site that changed between two.
#pragma once

#include "cli/collect/books/device_ledger.h"
#include "cli/collect/books/site_book.h"
#include "cli/collect/books/tensor_book.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace heapprof::cli {

// A live block, as a snapshot keeps it.
struct KeptBlock {
  uint64_t size_bytes;
  uint64_t birth;  // ticks
  uint32_t site;
};

struct KeptDevice {
  uint32_t device;  // wire's number; ScopeBook::kHost
  Amount live;
  uint64_t changed_sites;
  std::vector<unsigned char> steps;  // for each site: the distance of its number from the previous one, and its changes
  std::vector<KeptBlock> largest;
};

struct KeptSnapshot {
  uint64_t ticks;
  bool is_mark;
  uint32_t name;  // wire's number
  uint32_t thread_id;
  std::vector<KeptDevice> devices;
  std::vector<KeptTensors> tensors = {};  // of those that the thread reported
  uint64_t lost_tensors = 0;              // reported tensors that had no live block
};

class SnapshotBook {
 public:
  static constexpr size_t kMost = 1000;
  static constexpr size_t kMostMarks = kMost / 4 * 3;  // a library may set thousands
  static constexpr uint64_t kMostSteps = 2'000'000;    // about 7 bytes each, and 80 when the profile is written
  static constexpr size_t kLargest = 10;

  // A device's books, and its largest blocks.
  struct Look {
    uint32_t device;
    const SiteBook* sites;
    std::vector<KeptBlock> largest;
  };

  void start() { is_on_ = true; }
  bool is_on() const { return is_on_; }
  // Makes room for another snapshot. False: there is no room, and the snapshot was counted as lost. pre: is_on()
  bool make_room(bool is_mark);
  // pre: make_room() returned true; the looks are of all devices
  void take(KeptSnapshot&& moment, const std::vector<Look>& looks);

  const std::vector<KeptSnapshot>& snapshots() const { return snapshots_; }
  uint64_t lost() const { return lost_; }
  uint64_t thinned() const { return thinned_; }
  uint32_t thinnings() const { return thinnings_; }  // each doubles the interval
  // How often a site changed between two snapshots, in all.
  uint64_t steps() const { return steps_; }
  // About how much memory it takes.
  uint64_t bytes() const;
  // Memory has run out: counts all snapshots as lost, also those to come.
  void give_up();

  // Calls visit(site, Amount more), in ascending order of sites: the change since the previous snapshot.
  template <typename Visitor>
  static void for_each_step(const KeptDevice& device, const Visitor& visit);

 private:
  static constexpr uint64_t kSnapshotBytes = 1024;
  static constexpr int kFoldsAtOnce = 2;

  void keep_changes(const Look& look, KeptDevice* device);
  bool is_full() const { return snapshots_.size() >= kMost || steps_ >= kMostSteps; }
  bool is_nearly_full() const { return snapshots_.size() >= kMost / 8 * 7 || steps_ >= kMostSteps / 8 * 7; }
  // Begins to merge every other snapshot by time, one after the other. False: no snapshot can be merged.
  bool begin_pass();
  void fold_one();
  void fold_into_next(size_t index);

  std::vector<KeptSnapshot> snapshots_;
  size_t by_time_ = 0;                             // of them
  std::map<uint32_t, GrowingArray<Amount>> last_;  // by device: its sites' previous values
  bool is_on_ = false;
  bool is_given_up_ = false;
  uint64_t step_bytes_ = 0;
  uint64_t steps_ = 0;
  uint64_t lost_ = 0;
  uint64_t thinned_ = 0;
  uint32_t thinnings_ = 0;
  size_t pass_at_ = 0;   // position that the thinning under way has reached
  size_t pass_end_ = 0;  // where it ends; 0: none is under way
};

// ---- Numbers of seven bits a byte; the last byte lacks the highest bit ----

void put_number(uint64_t number, std::vector<unsigned char>* bytes);
inline uint64_t take_number(const unsigned char** at) {
  uint64_t number = 0;
  for (uint32_t shift = 0;; shift += 7) {
    const unsigned char byte = *(*at)++;
    number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
}
// Maps small numbers of either sign to small unsigned ones.
constexpr uint64_t fold_sign(uint64_t difference) {
  return difference << 1 ^ (difference >> 63 != 0 ? ~uint64_t{0} : 0);
}
constexpr uint64_t unfold_sign(uint64_t folded) { return folded >> 1 ^ (folded & 1 ? ~uint64_t{0} : 0); }
static_assert(unfold_sign(fold_sign(5)) == 5 && unfold_sign(fold_sign(~uint64_t{0})) == ~uint64_t{0} &&
              fold_sign(~uint64_t{0}) == 1 && unfold_sign(fold_sign(uint64_t{1} << 63)) == uint64_t{1} << 63);

template <typename Visitor>
void SnapshotBook::for_each_step(const KeptDevice& device, const Visitor& visit) {
  const unsigned char* at = device.steps.data();
  const unsigned char* const end = at + device.steps.size();
  uint32_t site = 0;
  while (at != end) {
    site += static_cast<uint32_t>(take_number(&at));
    const uint64_t bytes = unfold_sign(take_number(&at));
    const uint64_t blocks = unfold_sign(take_number(&at));
    visit(site, Amount{bytes, blocks});
  }
}

}  // namespace heapprof::cli
