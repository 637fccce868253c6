// cli/collect/books/tensor_book.cc: see tensor_book.h.
#include "cli/collect/books/tensor_book.h"

#include <algorithm>
#include <new>
#include <utility>

namespace heapprof::cli {

void TensorBook::tell(uint32_t thread, const ToldTensor& tensor) {
  Told& told = told_[thread];
  try {
    if (told_count_ == kMost) throw std::bad_alloc();
    told.tensors.push_back(tensor);
    ++told_count_;
  } catch (const std::bad_alloc&) {
    ++told.left_out;
  }
}

std::vector<ToldTensor> TensorBook::take(uint32_t thread) {
  const auto at = told_.find(thread);
  if (at == told_.end()) return {};
  told_count_ -= at->second.tensors.size();
  return std::exchange(at->second.tensors, {});
}

uint64_t TensorBook::take_left_out(uint32_t thread) {
  const auto at = told_.find(thread);
  return at == told_.end() ? 0 : std::exchange(at->second.left_out, 0);
}

void TensorBook::forget_thread(uint32_t thread) {
  take(thread);
  told_.erase(thread);
}

void TensorBook::keep(const KeptTensor& tensor, KeptTensors* of_device) {
  const bool has_room = of_device->sites.size() < kMostSites && kept_sites_ < kMostKeptSites;
  const size_t sites = of_device->sites.size();
  const bool is_known = of_device->sites.contains({tensor.site, tensor.role});
  Amount& sum = of_device->sites[{has_room || is_known ? tensor.site : 0, tensor.role}];
  kept_sites_ += of_device->sites.size() - sites;
  sum = {sum.bytes + tensor.size_bytes, sum.blocks + 1};
  std::vector<KeptTensor>& largest = of_device->largest;
  if (largest.size() == kLargest) {
    if (tensor.size_bytes <= largest.back().size_bytes) return;
    largest.pop_back();
  }
  const auto at =
      std::upper_bound(largest.begin(), largest.end(), tensor,
                       [](const KeptTensor& a, const KeptTensor& b) { return a.size_bytes > b.size_bytes; });
  largest.insert(at, tensor);
}

}  // namespace heapprof::cli
