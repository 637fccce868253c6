// cli/model/top/top_board.h: what a client of `heapprof top` knows about a process: current numbers by site and place,
// and their changes over the last seconds.
//
// Guarantees
//  - Growth is exact: a site's live bytes now, less those at the first sample of the window.
//  - The rows of a device sum to all that its sites have; sites without known names share one row.
//  - Memory use is bounded by the number of sites, and of changes within the window.
// Trust:    every number comes from the target: sums are modulo 2^64.
// Cost:     of a sample: its changed sites; of rows(): the sites of the device, about 2 ns each.
#pragma once

#include "cli/model/top/top_sample.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kTopWindowNs = 10'000'000'000;  // over which growth is measured
inline constexpr uint64_t kTopCurveNs = 60'000'000'000;   // length of the curve of live bytes

// For one place, or a device as a whole.
struct TopNumbers {
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
  int64_t growth_bytes = 0;           // within the window
  uint64_t total_bytes = 0;           // ever
  uint64_t total_blocks = 0;          // ever
  uint64_t new_blocks = 0;            // since the previous sample
  uint64_t new_temporary_blocks = 0;  // of them, freed before the next allocation
};

struct TopRow {
  uint32_t place = 0;  // index into places() + 1; 0: not known yet
  TopNumbers numbers;
  // How long, and by how much, the live bytes have risen without a fall.
  uint64_t rising_ns = 0;
  uint64_t risen_bytes = 0;
  uint32_t rises = 0;  // samples in which it rose
};

struct TopDeviceState {
  TopDevice now;
  TopNumbers sum;  // sum over the device's sites
  struct Moment {
    uint64_t at_ns;
    uint64_t live_bytes;
  };
  std::deque<Moment> curve;
};

struct TopScopeState {
  TopScope now;
  uint64_t new_begun = 0;  // since the previous sample
  uint64_t new_bytes = 0;
};

class TopBoard {
 public:
  // Clears all data, because the process runs a new program (exec).
  void forget();
  // at_ns: when the sample arrived, by the client's clock
  void take(const TopSample& sample, uint64_t at_ns);
  void take_names(TopNames names);

  bool has_sample() const { return samples_ != 0; }
  // Number of complete samples; rates are known from the second on.
  uint64_t samples() const { return samples_; }
  uint64_t age_ns() const { return age_ns_; }
  uint64_t lost_count() const { return lost_count_; }
  uint64_t scope_count() const { return scope_count_; }
  // The time between the last two complete samples; 0: there was only one.
  uint64_t interval_ns() const { return interval_ns_; }
  // The time that growth covers: the window, or the time since the first sample.
  uint64_t window_ns() const;
  const std::vector<TopDeviceState>& devices() const { return devices_; }
  const std::vector<TopScopeState>& scopes() const { return scopes_; }
  const std::vector<TopPlace>& places() const { return names_.places; }
  // Whether a site with blocks has no name yet.
  bool lacks_names() const;
  // The rows by place, in no particular order; places that never had a block are left out.
  std::vector<TopRow> rows(uint32_t device_number) const;

 private:
  struct SiteState {
    TopNumbers numbers;
    uint64_t temporary_blocks = 0;
    uint64_t sample = 0;  // number of the sample with its last change
  };
  struct Change {
    uint32_t device;
    uint32_t site;
    int64_t bytes;
  };
  struct Bucket {
    uint64_t at_ns;
    std::vector<Change> changes;
  };
  struct Rise {
    uint64_t live_bytes = 0;
    uint64_t begin_bytes = 0;
    uint64_t begin_ns = 0;
    uint32_t rises = 0;
  };

  void take_sites(const TopSample& sample);
  void take_devices(const TopSample& sample);
  void take_scopes(const TopSample& sample);
  void expire(uint64_t now_ns);
  void note_rises();
  uint32_t place_of(uint32_t site) const { return site < names_.place_of_site.size() ? names_.place_of_site[site] : 0; }

  TopNames names_;
  std::vector<TopDeviceState> devices_;
  std::map<uint32_t, std::vector<SiteState>> sites_;  // by device
  std::vector<TopScopeState> scopes_;
  std::deque<Bucket> window_;
  std::map<std::pair<uint32_t, uint32_t>, Rise> rises_;  // by device and place
  uint64_t samples_ = 0;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t interval_ns_ = 0;
  uint64_t age_ns_ = 0;
  uint64_t lost_count_ = 0;
  uint64_t scope_count_ = 0;
  uint64_t unnamed_ = 0;  // changes of sites without a name since names arrived
};

}  // namespace heapprof::cli
