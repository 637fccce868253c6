// cli/model/profile/stays.cc: see stays.h.
#include "cli/model/profile/stays.h"

#include <algorithm>
#include <utility>

namespace heapprof::cli {

void add_stays(std::vector<Stay>* into, const std::vector<Stay>& from) {
  if (from.empty()) return;
  const auto key = [](const Stay& stay) { return std::pair(stay.begin, stay.end); };
  constexpr size_t kFew = 8;
  if (from.size() <= kFew) {  // true of nearly all sites that go into a row
    for (const Stay& stay : from) {
      const auto at = std::lower_bound(into->begin(), into->end(), stay,
                                       [&](const Stay& a, const Stay& b) { return key(a) < key(b); });
      if (at == into->end() || key(*at) != key(stay)) {
        into->insert(at, stay);
      } else {
        at->bytes += stay.bytes;
        at->blocks += stay.blocks;
      }
    }
    return;
  }
  std::vector<Stay> sum;
  sum.reserve(into->size() + from.size());
  auto a = into->begin();
  auto b = from.begin();
  while (a != into->end() || b != from.end()) {
    if (b == from.end() || (a != into->end() && key(*a) < key(*b))) {
      sum.push_back(*a++);
    } else if (a == into->end() || key(*b) < key(*a)) {
      sum.push_back(*b++);
    } else {
      sum.push_back({a->begin, a->end, a->bytes + b->bytes, a->blocks + b->blocks});
      ++a, ++b;
    }
  }
  *into = std::move(sum);
}

}  // namespace heapprof::cli
