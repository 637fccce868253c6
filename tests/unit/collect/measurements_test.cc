// tests/unit/collect/measurements_test.cc: what a measurement says of each site is what a log of all events says,
// however measurements and phases lie within each other.
#include "cli/collect/books/measurements.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace heapprof::cli {
namespace {

struct Step {
  uint32_t site;
  uint64_t bytes;
  bool is_end;
};

using Sites = std::map<uint32_t, Amount>;

// Everything that happened, and what it comes to between two of its moments.
class Log {
 public:
  void note(const Step& event) { events_.push_back(event); }
  size_t now() const { return events_.size(); }

  static void apply(const Step& event, Sites* live) {
    Amount& of = (*live)[event.site];
    of.bytes += event.is_end ? 0 - event.bytes : event.bytes;
    of.blocks += event.is_end ? uint64_t(-1) : 1;
  }
  Sites live_at(size_t moment) const {
    Sites live;
    for (size_t i = 0; i < moment; ++i) apply(events_[i], &live);
    return live;
  }
  Sites total_between(size_t begin, size_t end) const {
    Sites total;
    for (size_t i = begin; i < end; ++i) {
      if (!events_[i].is_end) apply(events_[i], &total);
    }
    return total;
  }
  // What was live when most was, the first time.
  Sites peak_between(size_t begin, size_t end) const {
    Sites live = live_at(begin);
    Sites peak = live;
    for (size_t i = begin; i < end; ++i) {
      apply(events_[i], &live);
      if (sum(live) > sum(peak)) peak = live;
    }
    return peak;
  }
  static uint64_t sum(const Sites& sites) {
    uint64_t bytes = 0;
    for (const auto& [site, amount] : sites) bytes += amount.bytes;
    return bytes;
  }

 private:
  std::vector<Step> events_;
};

Amount of(const Sites& sites, uint32_t site) {
  const auto at = sites.find(site);
  return at == sites.end() ? Amount{} : at->second;
}
bool is_same(const Amount& a, const Amount& b) { return a.bytes == b.bytes && a.blocks == b.blocks; }
Amount difference(const Amount& a, const Amount& b) { return {a.bytes - b.bytes, a.blocks - b.blocks}; }

struct Open {
  uint64_t id;
  size_t begin;
  bool has_phase;
};

constexpr uint32_t kSites = 12;
constexpr uint32_t kDevice = 7;

// Plays random events, phases and measurements, and compares each measurement at its end.
class Play {
 public:
  explicit Play(unsigned seed) : random_(seed) {}

  void step() {
    const unsigned what = number(100);
    if (what < 45) return allocate();
    if (what < 80) return release();
    if (what < 86) return measurements_.begin_phase(kDevice, &sites_);
    if (what < 93) return begin(number(3) != 0);
    end();
  }
  void end_all() {
    while (!open_.empty()) end();
  }
  size_t compared() const { return compared_; }

 private:
  unsigned number(unsigned end) { return static_cast<unsigned>(random_() % end); }

  void allocate() {
    const Step event{1 + number(kSites), 1 + number(1000), false};
    sites_.grow_to(event.site + 1);
    sites_.make_room();
    sites_.add(event.site, event.bytes);
    sites_.check_peak(++ticks_);
    log_.note(event);
    blocks_.push_back(event);
  }
  void release() {
    if (blocks_.empty()) return;
    const size_t index = number(static_cast<unsigned>(blocks_.size()));
    Step event = blocks_[index];
    blocks_.erase(blocks_.begin() + static_cast<long>(index));
    event.is_end = true;
    sites_.remove(event.site, event.bytes, 1, false);
    log_.note(event);
  }
  void begin(bool begins_phase) {
    if (open_.size() == 20) return;
    const uint64_t id = measurements_.begin(kDevice, &sites_, begins_phase);
    REQUIRE(id != 0);
    open_.push_back({id, log_.now(), begins_phase});
  }
  void end() {
    if (open_.empty()) return;
    const size_t index = number(static_cast<unsigned>(open_.size()));
    const Open one = open_[index];
    open_.erase(open_.begin() + static_cast<long>(index));
    CHECK(measurements_.changes(one.id, false) == nullptr);
    measurements_.end(one.id, kDevice, &sites_);
    const std::vector<SiteChange>* const changes = measurements_.changes(one.id, false);
    REQUIRE(changes != nullptr);
    compare(one, *changes);
  }
  void compare(const Open& one, const std::vector<SiteChange>& changes) {
    std::map<uint32_t, SiteChange> said;
    for (const SiteChange& change : changes) said[change.site] = change;
    REQUIRE(said.size() == changes.size());
    const Sites before = log_.live_at(one.begin);
    const Sites after = log_.live_at(log_.now());
    const Sites total = log_.total_between(one.begin, log_.now());
    const Sites peak = log_.peak_between(one.begin, log_.now());
    uint64_t peak_bytes = 0;
    for (uint32_t site = 0; site <= kSites; ++site) {
      CHECK(is_same(said[site].live, difference(of(after, site), of(before, site))));
      CHECK(is_same(said[site].total, of(total, site)));
      peak_bytes += said[site].peak.bytes;
      // Of two moments with as much, either may be meant; so what is compared here is their sum.
      if (!one.has_phase) CHECK(is_same(said[site].peak, {}));
    }
    if (one.has_phase) CHECK(peak_bytes == Log::sum(peak) - Log::sum(before));
    if (one.has_phase) CHECK(is_a_moment(one, before, said));
    ++compared_;
  }
  // Whether the sites at the peak are those of some moment that has so much.
  bool is_a_moment(const Open& one, const Sites& before, std::map<uint32_t, SiteChange>& said) const {
    for (size_t moment = one.begin; moment <= log_.now(); ++moment) {
      const Sites live = log_.live_at(moment);
      bool is_it = true;
      for (uint32_t site = 0; site <= kSites; ++site)
        is_it = is_it && is_same(said[site].peak, difference(of(live, site), of(before, site)));
      if (is_it) return true;
    }
    return false;
  }

  std::mt19937 random_;
  SiteBook sites_;
  Measurements measurements_{1};
  Log log_;
  std::vector<Step> blocks_;
  std::vector<Open> open_;
  uint64_t ticks_ = 0;
  size_t compared_ = 0;
};

}  // namespace

TEST_CASE("a measurement says what a log of all events says") {
  size_t compared = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Play play(seed);
    for (int i = 0; i < 250; ++i) play.step();
    play.end_all();
    compared += play.compared();
  }
  CHECK(compared > 500);
}

TEST_CASE("the oldest measurement is forgotten where there are too many, and too large ones are not kept") {
  SiteBook sites;
  sites.grow_to(3);
  Measurements measurements(100);
  CHECK(measurements.begin(0, &sites, true) == 100);
  for (uint64_t i = 1; i <= Measurements::kMost; ++i) CHECK(measurements.begin(0, &sites, i % 2 == 0) == 100 + i);
  measurements.end(100, 0, &sites);
  CHECK(measurements.changes(100, false) == nullptr);
  measurements.end(101, 1, &sites);  // of another device
  CHECK(measurements.changes(101, false) == nullptr);
  measurements.end(101, 0, &sites);
  CHECK(measurements.changes(101, false) != nullptr);
  CHECK(measurements.bytes() < Measurements::kMost * 1000);
  SiteBook large;
  large.grow_to(2'000'000);
  CHECK(measurements.begin(0, &large, true) == 0);
  CHECK(measurements.changes(101, false) != nullptr);  // it has pushed nobody out
}

TEST_CASE("measurements that have ended go before those that are open") {
  SiteBook sites;
  sites.grow_to(3);
  Measurements measurements(1);
  const uint64_t outer = measurements.begin(0, &sites, true);
  for (size_t i = 0; i < 3 * Measurements::kMost; ++i) {
    const uint64_t inner = measurements.begin(0, &sites, false);
    measurements.end(inner, 0, &sites);
    CHECK(measurements.changes(inner, false) != nullptr);
    CHECK(measurements.changes(inner, true) == nullptr);  // nobody looked for its peak
  }
  measurements.end(outer, 0, &sites);
  CHECK(measurements.changes(outer, true) != nullptr);
}

TEST_CASE("what peaks take is bounded like the rest") {
  SiteBook sites;
  const uint32_t count = Measurements::kMostBytes / 200;
  sites.grow_to(count);
  Measurements measurements(1);
  for (int i = 0; i < 20; ++i) {
    CHECK(measurements.begin(0, &sites, true) != 0);
    sites.add(static_cast<uint32_t>(i), 1000);
    sites.check_peak(1);
    CHECK(measurements.bytes() <= Measurements::kMostBytes);
  }
}

TEST_CASE("a device that has no memory yet is measured from nothing") {
  Measurements measurements(1);
  const uint64_t id = measurements.begin(5, nullptr, true);
  REQUIRE(id == 1);
  SiteBook sites;
  sites.grow_to(2);
  sites.add(1, 100);
  sites.check_peak(1);
  sites.remove(1, 100, 1, true);
  measurements.begin_phase(5, &sites);
  sites.add(1, 30);
  sites.check_peak(2);
  measurements.end(id, 5, &sites);
  const std::vector<SiteChange>* const changes = measurements.changes(id, false);
  REQUIRE(changes != nullptr);
  REQUIRE(changes->size() == 1);
  CHECK(changes->at(0).peak.bytes == 100);
  CHECK(changes->at(0).live.bytes == 30);
  CHECK(changes->at(0).total.bytes == 130);
}

}  // namespace heapprof::cli
