// cli/collect/books/measurements.cc: copies all sites at the begin, which is simple and costs nothing during events.
//
// The sites of a peak need another way, as it is known only afterwards that a moment was the peak. SiteBook saves a
// site's values before its first change after each new maximum, for one phase at a time. A measurement may last through
// many phases, so code that begins a phase calls begin_phase() here. This copies the old phase's sites at its peak into
// each measurement that has not had a higher peak.
#include "cli/collect/books/measurements.h"

#include <algorithm>
#include <new>

namespace heapprof::cli {

namespace {

Amount less(const Amount& now, const Amount& before) { return {now.bytes - before.bytes, now.blocks - before.blocks}; }
bool is_nothing(const Amount& amount) { return amount.bytes == 0 && amount.blocks == 0; }

}  // namespace

void Measurements::count_bytes() {
  bytes_ = 0;
  for (const Measurement& one : all_) bytes_ += one.bytes();
}

void Measurements::drop(Iterator at) {
  const uint32_t device = at->device;
  SiteBook* const sites = at->sites;
  all_.erase(at);
  count_bytes();
  if (sites != nullptr) settle(device, sites);
}

Measurements::Iterator Measurements::first_to_go() {
  const auto ended = std::find_if(all_.begin(), all_.end(), [](const Measurement& one) { return one.has_ended; });
  return ended != all_.end() ? ended : all_.begin();
}

// count: of new measurements
void Measurements::make_room(uint64_t needed_bytes, size_t count) {
  while (!all_.empty() && (all_.size() + count > kMost || bytes_ + needed_bytes > kMostBytes)) drop(first_to_go());
}

// Lets the sites of a phase be kept as long as a measurement needs a peak.
void Measurements::settle(uint32_t device, SiteBook* sites) {
  const bool is_wanted = std::any_of(all_.begin(), all_.end(), [device](const Measurement& one) {
    return one.device == device && one.has_phase && !one.has_ended;
  });
  sites->keep_phase_sites(is_wanted);
}

uint64_t Measurements::begin(uint32_t device, SiteBook* sites, bool begins_phase) {
  const size_t count = sites == nullptr ? 0 : sites->size();
  const uint64_t needed_bytes = count * (sizeof(Numbers) + sizeof(Amount));
  try {
    if (needed_bytes <= kMostBytes) {
      make_room(needed_bytes, 1);
      std::list<Measurement> made(1);
      Measurement& measurement = made.front();
      measurement.id = next_id_;
      measurement.device = device;
      measurement.has_phase = begins_phase;
      measurement.sites = sites;
      measurement.at_begin.resize(count);
      for (uint32_t i = 0; i < count; ++i) measurement.at_begin[i] = {(*sites)[i].live, (*sites)[i].total};
      if (sites != nullptr && begins_phase) {
        hand_over_peak(device, *sites);
        sites->keep_phase_sites(true);
        sites->begin_phase();
      }
      all_.splice(all_.end(), made);
      count_bytes();
      return next_id_++;
    }
  } catch (const std::bad_alloc&) {
  }
  if (sites != nullptr && begins_phase) begin_phase(device, sites);
  return 0;
}

// If there is no memory for a measurement's peak, the measurement is dropped: it is better to give no answer than a
// wrong one.
void Measurements::hand_over_peak(uint32_t device, const SiteBook& sites) {
  const uint64_t peak_bytes = sites.phase_peak().bytes;
  for (Iterator at = all_.begin(); at != all_.end();) {
    Measurement& one = *at++;
    if (one.device != device || !one.has_phase || one.has_ended || peak_bytes <= one.peak_bytes) continue;
    try {
      one.at_peak.resize(sites.size());
      for (uint32_t i = 0; i < sites.size(); ++i) one.at_peak[i] = sites.at_phase_peak(i);
      one.peak_bytes = peak_bytes;
    } catch (const std::bad_alloc&) {
      all_.erase(std::prev(at));
    }
  }
  count_bytes();
  make_room(0, 0);
}

void Measurements::begin_phase(uint32_t device, SiteBook* sites) {
  hand_over_peak(device, *sites);
  settle(device, sites);
  sites->begin_phase();
}

void Measurements::compare(const SiteBook& sites, Measurement* measurement) const {
  const bool is_last_highest = measurement->has_phase && sites.phase_peak().bytes > measurement->peak_bytes;
  for (uint32_t i = 0; i < sites.size(); ++i) {
    const Numbers before = i < measurement->at_begin.size() ? measurement->at_begin[i] : Numbers{};
    SiteChange change{i, {}, less(sites[i].live, before.live), less(sites[i].total, before.total)};
    if (measurement->has_phase) {
      Amount at_peak{};
      if (is_last_highest) at_peak = sites.at_phase_peak(i);
      if (!is_last_highest && i < measurement->at_peak.size()) at_peak = measurement->at_peak[i];
      change.peak = less(at_peak, before.live);
    }
    if (!is_nothing(change.peak) || !is_nothing(change.live) || !is_nothing(change.total))
      measurement->changes.push_back(change);
  }
}

void Measurements::end(uint64_t id, uint32_t device, SiteBook* sites) {
  const Iterator at = std::find_if(all_.begin(), all_.end(), [id](const Measurement& one) { return one.id == id; });
  if (at == all_.end() || at->device != device || at->has_ended) return;
  at->has_ended = true;
  try {
    if (sites != nullptr) compare(*sites, &*at);
  } catch (const std::bad_alloc&) {
    return drop(at);
  }
  std::vector<Numbers>().swap(at->at_begin);
  std::vector<Amount>().swap(at->at_peak);
  count_bytes();
  make_room(0, 0);
  if (sites != nullptr) settle(device, sites);
}

const std::vector<SiteChange>* Measurements::changes(uint64_t id, bool of_peak) const {
  const auto at = std::find_if(all_.begin(), all_.end(), [=](const Measurement& one) {
    return one.id == id && one.has_ended && (one.has_phase || !of_peak);
  });
  return at == all_.end() ? nullptr : &at->changes;
}

}  // namespace heapprof::cli
