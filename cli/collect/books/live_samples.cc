// cli/collect/books/live_samples.cc: see live_samples.h.
#include "cli/collect/books/live_samples.h"

#include <algorithm>
#include <new>

namespace heapprof::cli {

void LiveSamples::take(const SiteBook& sites, uint64_t ticks, uint64_t now_ns) {
  try {
    if (samples_.size() == kMost) thin_out();
    Sample sample;
    sample.ticks = samples_.empty() ? ticks : std::max(ticks, samples_.back().ticks);
    for (uint32_t i = 1; i < sites.size(); ++i) {
      if (sites[i].live.bytes >= kSmallest) sample.by_site.push_back({sites[i].live.bytes, i});
    }
    sample.by_site.shrink_to_fit();
    samples_.push_back(std::move(sample));
    next_ns_ = now_ns + std::max(distance_ns_, sites.size() * kSiteNs);
  } catch (const std::bad_alloc&) {
    give_up();
  }
}

// Keeps the earlier moment of each pair. The next moment is one old distance after the last one. So it is one new
// distance after the last one that is kept.
void LiveSamples::thin_out() {
  for (size_t i = 1; i < kMost / 2; ++i) samples_[i] = std::move(samples_[2 * i]);
  samples_.resize(kMost / 2);
  distance_ns_ *= 2;
}

void LiveSamples::give_up() {
  std::vector<Sample>().swap(samples_);
  next_ns_ = UINT64_MAX;
}

std::vector<uint64_t> LiveSamples::moments() const {
  std::vector<uint64_t> ticks;
  for (const Sample& sample : samples_) ticks.push_back(sample.ticks);
  return ticks;
}

uint64_t LiveSamples::bytes() const {
  uint64_t bytes = 0;
  for (const Sample& sample : samples_) bytes += sample.by_site.capacity() * sizeof(SiteBytes);
  return bytes;
}

bool LiveSamples::Reader::add_row(uint32_t site, std::vector<uint64_t>* rows) {
  if (site < next_site_) return false;  // as for nearly all sites
  const size_t begin = rows->size();
  next_site_ = UINT32_MAX;
  for (size_t i = 0; i < next_.size(); ++i) {
    const std::vector<SiteBytes>& by_site = samples_.samples_[i].by_site;
    while (next_[i] < by_site.size() && by_site[next_[i]].site < site) ++next_[i];
    if (next_[i] < by_site.size() && by_site[next_[i]].site == site) {
      rows->resize(begin + next_.size());
      (*rows)[begin + i] = by_site[next_[i]++].bytes;
    }
    if (next_[i] < by_site.size()) next_site_ = std::min(next_site_, by_site[next_[i]].site);
  }
  return rows->size() > begin;
}

}  // namespace heapprof::cli
