// cli/collect/books/site_book.h: the numbers of every site and of all sites together, with the exact peak.
//
// The value of each site at the peak is found without copying all sites at every new maximum: `epoch` counts the
// maxima. When a site changes for the first time after a new maximum, it first saves its value. So at the end a site's
// value at the last maximum is the one saved for that epoch or, if the site has not changed since, its current value.
// The peak of a phase is kept in the same way, apart from the sites, and only while a measurement needs it
// (measurements.h).
//
// Guarantees
//  - The sites' live numbers sum to the totals at every moment (modulo 2^64: the target could send any size).
// Cost:     128 bytes a site, 232 more from its second size class on, 24 more while a phase's sites are kept; 1-3 ns a
//           change. Keeping the smallest and the largest size costs nothing: if all blocks have one class, a size
//           between the two has it as well, and no class is computed for it.
#pragma once

#include "cli/base/saturating.h"
#include "cli/collect/books/amount.h"
#include "cli/collect/memory/growing_array.h"
#include "cli/collect/memory/prefetch.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/size_histogram.h"
#include "shared/sampling.h"

#include <algorithm>
#include <cstdint>

namespace heapprof::cli {

struct SiteEntry {
  // Changed by every event.
  Amount live;
  Amount max;    // this site's own maximum of bytes, and the most blocks with which it was reached
  Amount saved;  // `live` at maximum number `saved_epoch`
  uint64_t saved_epoch;
  uint32_t histogram;  // index of its size histogram; 0: all its blocks are of one class
  uint32_t lifetime_high_ticks;
  // Changed by a begin or an end only.
  Amount total;
  uint64_t temporary_blocks;
  uint64_t lifetime_low_ticks;  // 96 bits: a server's blocks live for more than 2^64 ticks together
  // How many blocks a realloc at this site made from an older block, and the bytes of those that moved.
  uint64_t resized_blocks;
  uint64_t moved_bytes;
  // Of all blocks ever; unset before the first.
  uint64_t smallest_bytes;
  uint64_t largest_bytes;
};
static_assert(sizeof(SiteEntry) == 128);  // two cache lines

class SiteBook {
 public:
  struct Totals {
    Amount live;
    Amount peak;  // the maximum of bytes, and the blocks at that moment
    uint64_t peak_ticks;
    uint64_t max_blocks;  // a separate maximum
    uint64_t max_blocks_ticks;
    uint64_t temporary_blocks;
  };

  // From now on a second peak is kept, which starts at what is live now. The program may begin any number of phases.
  void begin_phase() {
    has_phase_ = true;
    phase_peak_ = totals_.live;
    watched_bytes_ = totals_.live.bytes;
    ++phase_epoch_;
  }
  // Whether the sites' values at the peak are kept, from the next phase on.
  void keep_phase_sites(bool keeps) {
    if (keeps) phase_sites_.grow_to(sites_.size());
    keeps_phase_sites_ = keeps;
  }
  uint64_t phase_bytes() const { return phase_sites_.size() * sizeof(Saved); }
  // Of the latest phase; without one, of the whole run.
  Amount phase_peak() const { return has_phase_ ? phase_peak_ : totals_.peak; }

  // Sites below `count` exist from now on.
  void grow_to(uint32_t count) {
    if (keeps_phase_sites_) phase_sites_.grow_to(count);
    sites_.grow_to(count);
  }
  // After this the next add() needs no memory, and so cannot fail half way.
  void make_room() { histograms_.make_room(2); }
  uint32_t size() const { return static_cast<uint32_t>(sites_.size()); }
  // Whether the entries exceed a cache close to the core.
  bool is_large() const { return sites_.size() > kSmall; }
  void prefetch(uint32_t site) const {
    prefetch_line(&sites_[site].live);
    prefetch_line(&sites_[site].total);
  }

  [[gnu::always_inline]] void add(uint32_t site, uint64_t size_bytes) { add(site, size_bytes, {size_bytes, 1}); }
  // stands_for: the weight of a sampled block (sample_weight.h)
  [[gnu::always_inline]] void add(uint32_t site, uint64_t size_bytes, Amount stands_for) {
    SiteEntry& entry = sites_[site];
    save(site, entry);
    entry.live.bytes += stands_for.bytes;
    entry.live.blocks += stands_for.blocks;
    if (entry.live.bytes >= entry.max.bytes) raise_max(entry);
    count_size(entry, size_bytes, stands_for.blocks);
    add_to(&entry.total.bytes, stands_for.bytes);
    entry.total.blocks += stands_for.blocks;
    totals_.live.bytes += stands_for.bytes;
    totals_.live.blocks += stands_for.blocks;
  }

  void remove(uint32_t site, uint64_t size_bytes, uint64_t lifetime_ticks, bool is_temporary) {
    remove(site, Amount{size_bytes, 1}, lifetime_ticks, is_temporary);
  }
  [[gnu::always_inline]] void remove(uint32_t site, Amount stands_for, uint64_t lifetime_ticks, bool is_temporary) {
    SiteEntry& entry = sites_[site];
    save(site, entry);
    entry.live.bytes -= stands_for.bytes;
    entry.live.blocks -= stands_for.blocks;
    add_lifetime(entry, lifetime_ticks, stands_for.blocks);
    totals_.live.bytes -= stands_for.bytes;
    totals_.live.blocks -= stands_for.blocks;
    if (is_temporary) {
      entry.temporary_blocks += 1;
      totals_.temporary_blocks += 1;
    }
  }

  // For a part of a block that lives on, such as a mapping: this many bytes of it are gone, or are there again.
  void shrink(uint32_t site, uint64_t size_bytes) {
    SiteEntry& entry = sites_[site];
    save(site, entry);
    entry.live.bytes -= size_bytes;
    totals_.live.bytes -= size_bytes;
  }
  void grow(uint32_t site, uint64_t size_bytes) {
    SiteEntry& entry = sites_[site];
    save(site, entry);
    entry.live.bytes += size_bytes;
    if (entry.live.bytes >= entry.max.bytes) raise_max(entry);
    totals_.live.bytes += size_bytes;
  }

  // The block just added came from a realloc; so many bytes of the old one were moved into it.
  void note_resize(uint32_t site, uint64_t moved_bytes) {
    sites_[site].resized_blocks += 1;
    add_to(&sites_[site].moved_bytes, moved_bytes);
  }

  // Undoes a remove(), with the same arguments.
  void restore(uint32_t site, uint64_t size_bytes, uint64_t lifetime_ticks, bool is_temporary) {
    SiteEntry& entry = sites_[site];
    save(site, entry);
    entry.live.bytes += size_bytes;
    entry.live.blocks += 1;
    if (entry.live.bytes >= entry.max.bytes) raise_max(entry);
    entry.lifetime_high_ticks -= entry.lifetime_low_ticks < lifetime_ticks ? 1 : 0;
    entry.lifetime_low_ticks -= lifetime_ticks;
    totals_.live.bytes += size_bytes;
    totals_.live.blocks += 1;
    if (is_temporary) {
      entry.temporary_blocks -= 1;
      totals_.temporary_blocks -= 1;
    }
  }

  // Call it after each event that added memory: it checks for a new maximum. A realloc is one event, so it makes one
  // check after its remove and its add.
  void check_peak(uint64_t ticks) {
    if (totals_.live.bytes > watched_bytes_) raise_peak(ticks);
    if (totals_.live.blocks > totals_.max_blocks) {
      totals_.max_blocks = totals_.live.blocks;
      totals_.max_blocks_ticks = ticks;
    }
  }

  const Totals& totals() const { return totals_; }
  // The bytes and blocks ever allocated, summed over the sites; UINT64_MAX bytes: at least that many.
  Amount total() const;
  uint64_t epoch() const { return epoch_; }  // grows with every new maximum of bytes

  // Adds the lifetime of a block that is still live at the end.
  void add_final_lifetime(uint32_t site, uint64_t lifetime_ticks, uint64_t blocks = 1) {
    add_lifetime(sites_[site], lifetime_ticks, blocks);
  }

  const SiteEntry& operator[](uint32_t site) const { return sites_[site]; }
  Amount at_peak(uint32_t site) const {
    const SiteEntry& entry = sites_[site];
    return entry.saved_epoch == epoch_ ? entry.saved : entry.live;
  }
  // pre: there is no phase, or its sites were kept since before it began
  Amount at_phase_peak(uint32_t site) const {
    if (!has_phase_) return at_peak(site);
    const Saved& saved = phase_sites_[site];
    return saved.epoch == phase_epoch_ ? saved.live : sites_[site].live;
  }
  SizeHistogram sizes(uint32_t site) const;  // blocks ever, by size
  // nullptr: all sizes are in the bucket of the largest.
  const SizeCounts* size_counts(uint32_t site) const {
    return sites_[site].histogram == 0 ? nullptr : &histograms_[sites_[site].histogram];
  }

 private:
  static constexpr size_t kSmall = 2048;  // 256 KiB

  struct Saved {
    Amount live;
    uint64_t epoch;
  };

  // pre: more bytes are live than at one of the two peaks
  void raise_peak(uint64_t ticks) {
    if (totals_.live.bytes > totals_.peak.bytes) {
      totals_.peak = totals_.live;
      totals_.peak_ticks = ticks;
      ++epoch_;
    }
    if (has_phase_) {  // the phase's peak is the smaller of the two
      phase_peak_ = totals_.live;
      ++phase_epoch_;
    }
    watched_bytes_ = totals_.live.bytes;
  }
  static void raise_max(SiteEntry& entry) {
    if (entry.live.bytes > entry.max.bytes || entry.live.blocks > entry.max.blocks) entry.max = entry.live;
  }
  void save(uint32_t site, SiteEntry& entry) {
    if (entry.saved_epoch != epoch_) {
      entry.saved = entry.live;
      entry.saved_epoch = epoch_;
    }
    if (keeps_phase_sites_) [[unlikely]] {
      Saved& saved = phase_sites_[site];
      if (saved.epoch != phase_epoch_) saved = {entry.live, phase_epoch_};
    }
  }
  static void add_lifetime(SiteEntry& entry, uint64_t ticks, uint64_t blocks) {
    uint64_t low_ticks = ticks;
    if (blocks != 1) [[unlikely]] {
      const auto all = static_cast<wire::Wide>(ticks) * blocks;
      entry.lifetime_high_ticks += static_cast<uint32_t>(all >> 64);
      low_ticks = static_cast<uint64_t>(all);
    }
    entry.lifetime_low_ticks += low_ticks;
    entry.lifetime_high_ticks += entry.lifetime_low_ticks < low_ticks ? 1 : 0;
  }
  void count_size(SiteEntry& entry, uint64_t size_bytes, uint64_t blocks) {
    const bool is_between = size_bytes >= entry.smallest_bytes && size_bytes <= entry.largest_bytes;
    if (entry.histogram != 0) {
      histograms_[entry.histogram][class_of(size_bytes)] += blocks;
    } else if (entry.total.blocks == 0) {
      entry.smallest_bytes = entry.largest_bytes = size_bytes;
      return;
    } else if (!is_between && class_of(size_bytes) != class_of(entry.largest_bytes)) {
      start_histogram(entry, class_of(size_bytes), blocks);
    }
    if (is_between) return;
    entry.smallest_bytes = std::min(entry.smallest_bytes, size_bytes);
    entry.largest_bytes = std::max(entry.largest_bytes, size_bytes);
  }
  static uint32_t class_of(uint64_t size_bytes) { return static_cast<uint32_t>(size_bucket(size_bytes)); }
  void start_histogram(SiteEntry& entry, uint32_t size_class, uint64_t blocks);

  GrowingArray<SiteEntry> sites_;
  GrowingArray<SizeCounts> histograms_;  // [0] is unused
  Totals totals_{};
  uint64_t watched_bytes_ = 0;  // the smaller of the two peaks
  bool has_phase_ = false;
  bool keeps_phase_sites_ = false;
  Amount phase_peak_{};
  uint64_t phase_epoch_ = 1;
  GrowingArray<Saved> phase_sites_;
  uint64_t epoch_ = 1;  // sites start at 0: nothing saved
};

}  // namespace heapprof::cli
