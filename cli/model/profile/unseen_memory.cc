// cli/model/profile/unseen_memory.cc: see unseen_memory.h.
#include "cli/model/profile/unseen_memory.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <tuple>

namespace heapprof::cli {

void merge_estimates(std::vector<Estimate>* estimates) {
  std::sort(estimates->begin(), estimates->end(),
            [](const Estimate& a, const Estimate& b) { return std::tie(a.what, a.node) < std::tie(b.what, b.node); });
  size_t kept = 0;
  for (Estimate& estimate : *estimates) {
    if (kept != 0 && (*estimates)[kept - 1].what == estimate.what && (*estimates)[kept - 1].node == estimate.node) {
      Estimate& same = (*estimates)[kept - 1];
      same.count = add_saturating(same.count, estimate.count);
      same.size_bytes = add_saturating(same.size_bytes, estimate.size_bytes);
      same.bound_count = add_saturating(same.bound_count, estimate.bound_count);
    } else {
      if (&(*estimates)[kept] != &estimate) (*estimates)[kept] = std::move(estimate);
      ++kept;
    }
  }
  estimates->resize(kept);
  std::stable_sort(estimates->begin(), estimates->end(),
                   [](const Estimate& a, const Estimate& b) { return a.size_bytes > b.size_bytes; });
}

void add_unseen(UnseenMemory* sum, const UnseenMemory& other) {
  sum->runtime_bytes = add_saturating(sum->runtime_bytes, other.runtime_bytes);
  sum->runtime_blocks = add_saturating(sum->runtime_blocks, other.runtime_blocks);
  sum->estimates.insert(sum->estimates.end(), other.estimates.begin(), other.estimates.end());
}

Estimate sum_of_estimates(const UnseenMemory& unseen, const std::string& what) {
  Estimate sum;
  sum.what = what;
  for (const Estimate& estimate : unseen.estimates) {
    if (estimate.what != what) continue;
    sum.count = add_saturating(sum.count, estimate.count);
    sum.size_bytes = add_saturating(sum.size_bytes, estimate.size_bytes);
    sum.bound_count = add_saturating(sum.bound_count, estimate.bound_count);
  }
  return sum;
}

}  // namespace heapprof::cli
