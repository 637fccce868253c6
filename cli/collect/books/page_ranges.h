// cli/collect/books/page_ranges.h: maps each byte of an address space to its block, as pieces that do not overlap.
//
// Guarantees
//  - Adjacent ranges of one block are one piece.
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
  // The pieces in [start, end), cut at its ends, in the order of their addresses; at most `most`.
  std::vector<PagePiece> find(uint64_t start, uint64_t end, size_t most = SIZE_MAX) const;
  // The same, and removes them.
  std::vector<PagePiece> take(uint64_t start, uint64_t end);
  // pre: the range is free, and not empty
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

  // The first piece that overlaps the range; end(): none.
  Pieces::const_iterator first_in(uint64_t start, uint64_t end) const;

  Pieces pieces_;
};

}  // namespace heapprof::cli
