// cli/collect/books/page_ranges.h: which block each byte of an address space belongs to, as pieces that do not overlap.
//
// Guarantees
//  - Neighbours of one block are one piece.
// Cost:     a look-up in a tree, and one step for each piece that lies in the range; 100 bytes a piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace heapprof::cli {

struct PagePiece {
  uint64_t start;
  uint64_t end;  // one past the last byte
  uint64_t block;

  uint64_t bytes() const { return end - start; }
};

class PageRanges {
 public:
  // The pieces in [start, end), cut at its ends, in the order of their addresses; `most` of them.
  std::vector<PagePiece> find(uint64_t start, uint64_t end, size_t most = SIZE_MAX) const;
  // The same, which are taken out.
  std::vector<PagePiece> take(uint64_t start, uint64_t end);
  // pre: nothing lies there, and it is not empty.
  void put(const PagePiece& piece);
  bool is_free(uint64_t start, uint64_t end) const { return first_in(start, end) == pieces_.end(); }
  size_t size() const { return pieces_.size(); }
  // visit(const PagePiece&), in the order of their addresses.
  template <typename Visitor>
  void for_each(const Visitor& visit) const {
    for (const auto& [start, tail] : pieces_) visit(PagePiece{start, tail.end, tail.block});
  }

 private:
  struct Tail {
    uint64_t end;
    uint64_t block;
  };
  using Pieces = std::map<uint64_t, Tail>;  // by start

  // The first that reaches into the range; end(): none.
  Pieces::const_iterator first_in(uint64_t start, uint64_t end) const;

  Pieces pieces_;
};

}  // namespace heapprof::cli
