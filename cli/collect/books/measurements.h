// cli/collect/books/measurements.h: how each site changed between two moments that the program chose.
//
// If a test exceeds its limit, its message says by how much; these books say which sites did it. At the begin the
// numbers of all sites are copied; at the end those that differ are kept. A limit on a peak needs the moment of the
// peak, which may be in any phase during the measurement. So when a phase ends whose peak was higher than those before,
// the measurement takes over its sites.
//
// Guarantees
//  - The sites' changes of live bytes, and of totals, sum to those of the device; at the peak they sum to the peak less
//    what was live at the begin.
//  - At most kMost measurements, and kMostBytes of them, are kept: the oldest ended one is dropped first, then the
//    oldest. A dropped measurement cannot be explained.
// Context:  the collector's thread.
// Cost:     a copy of 32 bytes a site of the device at the begin, a comparison at the end: some 2 ms for 100,000 sites.
#pragma once

#include "cli/collect/books/site_book.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace heapprof::cli {

struct SiteChange {
  uint32_t site = 0;
  // Less what was live at the begin, modulo 2^64: read as int64_t.
  Amount peak{};
  Amount live{};
  Amount total{};
};

class Measurements {
 public:
  static constexpr size_t kMost = 64;
  static constexpr size_t kMostBytes = 64 << 20;

  // first_id: of the first measurement; ids of two processes should differ.
  explicit Measurements(uint64_t first_id) : next_id_(first_id == 0 ? 1 : first_id) {}

  // sites: of that device; nullptr: it has had no memory. begins_phase: also begins a phase. Returns an id; 0: there is
  // no memory for it.
  uint64_t begin(uint32_t device, SiteBook* sites, bool begins_phase);
  // Call it instead of SiteBook::begin_phase().
  void begin_phase(uint32_t device, SiteBook* sites);
  void end(uint64_t id, uint32_t device, SiteBook* sites);
  // The changes of a measurement that has ended and, with of_peak, has had a phase. nullptr: there is no such
  // measurement (any more).
  const std::vector<SiteChange>* changes(uint64_t id, bool of_peak) const;
  uint64_t bytes() const { return bytes_; }

 private:
  struct Numbers {
    Amount live;
    Amount total;
  };
  struct Measurement {
    uint64_t id = 0;
    uint32_t device = 0;
    bool has_phase = false;
    bool has_ended = false;
    std::vector<Numbers> at_begin;  // sites beyond it had nothing
    uint64_t peak_bytes = 0;        // the highest of the phases that have ended
    std::vector<Amount> at_peak;    // likewise, of each site
    std::vector<SiteChange> changes;
    SiteBook* sites = nullptr;

    uint64_t bytes() const {
      return sizeof(Measurement) + at_begin.capacity() * sizeof(Numbers) + at_peak.capacity() * sizeof(Amount) +
             changes.capacity() * sizeof(SiteChange);
    }
  };
  using Iterator = std::list<Measurement>::iterator;

  void hand_over_peak(uint32_t device, const SiteBook& sites);
  void compare(const SiteBook& sites, Measurement* measurement) const;
  void drop(Iterator at);
  Iterator first_to_go();
  void make_room(uint64_t needed_bytes, size_t count);
  void settle(uint32_t device, SiteBook* sites);
  void count_bytes();

  std::list<Measurement> all_;  // the oldest first
  uint64_t next_id_;
  uint64_t bytes_ = 0;
};

}  // namespace heapprof::cli
