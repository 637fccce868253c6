// cli/collect/books/page_ranges.cc: see page_ranges.h.
#include "cli/collect/books/page_ranges.h"

#include <algorithm>
#include <iterator>

namespace heapprof::cli {

PageRanges::Pieces::const_iterator PageRanges::first_in(uint64_t start, uint64_t end) const {
  if (start >= end) return pieces_.end();
  auto at = pieces_.upper_bound(start);
  if (at != pieces_.begin() && std::prev(at)->second.end > start) --at;
  return at != pieces_.end() && at->first < end ? at : pieces_.end();
}

std::vector<PagePiece> PageRanges::find(uint64_t start, uint64_t end, size_t most) const {
  std::vector<PagePiece> found;
  for (auto at = first_in(start, end); at != pieces_.end() && at->first < end && found.size() < most; ++at)
    found.push_back({std::max(at->first, start), std::min(at->second.end, end), at->second.block});
  return found;
}

std::vector<PagePiece> PageRanges::take(uint64_t start, uint64_t end) {
  std::vector<PagePiece> taken;
  for (auto at = first_in(start, end); at != pieces_.end() && at->first < end;) {
    const PagePiece whole{at->first, at->second.end, at->second.block};
    taken.push_back({std::max(whole.start, start), std::min(whole.end, end), whole.block});
    at = pieces_.erase(at);
    if (whole.start < start) pieces_.emplace_hint(at, whole.start, Tail{start, whole.block});
    if (whole.end > end) at = pieces_.emplace_hint(at, end, Tail{whole.end, whole.block});
  }
  return taken;
}

void PageRanges::put(const PagePiece& piece) {
  auto [at, is_new] = pieces_.try_emplace(piece.start, Tail{piece.end, piece.block});
  if (!is_new) return;
  if (const auto next = std::next(at);
      next != pieces_.end() && next->first == piece.end && next->second.block == piece.block) {
    at->second.end = next->second.end;
    pieces_.erase(next);
  }
  if (at == pieces_.begin()) return;
  const auto before = std::prev(at);
  if (before->second.end != piece.start || before->second.block != piece.block) return;
  before->second.end = at->second.end;
  pieces_.erase(at);
}

}  // namespace heapprof::cli
