// cli/model/profile/stays.cc: see stays.h.
#include "cli/model/profile/stays.h"

#include <utility>

namespace heapprof::cli {

void add_stays(std::vector<Stay>* into, const std::vector<Stay>& from) {
  if (from.empty()) return;
  const auto key = [](const Stay& stay) { return std::pair(stay.begin, stay.end); };
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
