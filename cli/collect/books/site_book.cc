// cli/collect/books/site_book.cc: see site_book.h.
#include "cli/collect/books/site_book.h"

#include "cli/base/saturating.h"

namespace heapprof::cli {

// In a compiler a million sites may each allocate blocks of a single size. They should not pay for the counters of all
// sizes.
void SiteBook::start_histogram(SiteEntry& entry, uint32_t size_class, uint64_t blocks) {
  const size_t index = histograms_.size() == 0 ? 1 : histograms_.size();
  histograms_.grow_to(index + 1);
  histograms_[index][class_of(entry.largest_bytes)] = entry.total.blocks;
  histograms_[index][size_class] += blocks;
  entry.histogram = static_cast<uint32_t>(index);
}

Amount SiteBook::total() const {
  Amount total{};
  for (const SiteEntry& entry : sites_) {
    add_to(&total.bytes, entry.total.bytes);
    total.blocks += entry.total.blocks;
  }
  return total;
}

SizeHistogram SiteBook::sizes(uint32_t site) const {
  const SiteEntry& entry = sites_[site];
  if (const SizeCounts* counts = size_counts(site)) return SizeHistogram(*counts);
  SizeHistogram sizes;
  sizes.set(size_bucket(entry.largest_bytes), entry.total.blocks);
  return sizes;
}

}  // namespace heapprof::cli
