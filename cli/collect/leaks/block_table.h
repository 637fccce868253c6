// cli/collect/leaks/block_table.h: the blocks that were live at the end, found by any address inside them.
//
// Guarantees
//  - Blocks are in the order of their addresses. A block of 0 bytes contains its own address.
// Context:  one thread; look-ups from several.
// Cost:     24 bytes a block, and 4 bytes for each page from the first block of a cluster to its last. (The pages of a
//           block of more than 4 MiB take none.) A look-up of a word that is no heap address takes 2 ns, of a block
//           some 10 ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

// How a block is reached when the program ends, the worst last.
enum class LeakKind : uint8_t {
  kUnjudged,      // unknown: it did not exist yet when the memory was searched
  kReachable,     // reachable through pointers to starts of blocks
  kPossiblyLost,  // only through a pointer into the middle of this block, or of one on the way to it
  kIndirectly,    // reached only from a lost block
  kLost           // definitely lost: no block outside its ring leads to it (leak_marks.h)
};
inline constexpr size_t kLeakKinds = 5;

struct LeakBlock {
  uint64_t start;
  uint64_t size_bytes;
  uint32_t site;
  uint32_t holder : 24 = 0;  // its holder's id (root_holders.h); 0: none
  LeakKind kind : 8 = LeakKind::kUnjudged;

  uint64_t end() const { return start + (size_bytes == 0 ? 1 : size_bytes); }
};
static_assert(sizeof(LeakBlock) == 24);

class BlockTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // pre: fewer than kNone blocks. Blocks that end above 2^56, and blocks that begin inside another one, are left out
  explicit BlockTable(std::vector<LeakBlock> blocks);

  size_t size() const { return blocks_.size(); }
  const LeakBlock& operator[](uint32_t index) const { return blocks_[index]; }
  LeakBlock& operator[](uint32_t index) { return blocks_[index]; }
  const std::vector<LeakBlock>& blocks() const { return blocks_; }
  // The block that contains this address.
  uint32_t find(uint64_t address) const;
  // The first block that ends after this address; size(): no such block.
  uint32_t first_behind(uint64_t address) const;

 private:
  // Pages without a large gap between them: index_[index_off + i] is the first block that begins on page i of the
  // cluster, or later.
  struct Cluster {
    uint64_t first_page;
    uint64_t pages;
    uint64_t index_off;
    uint64_t end;  // of its last block; if this block has many pages, they have no entries
  };

  std::vector<LeakBlock> blocks_;
  std::vector<Cluster> clusters_;
  std::vector<uint32_t> index_;
};

}  // namespace heapprof::cli
