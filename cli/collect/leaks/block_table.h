// cli/collect/leaks/block_table.h: the blocks that were live at the end, found by any address inside of them.
//
// Guarantees
//  - Blocks stand in the order of their addresses. A block of no bytes holds its own address.
// Context:  one thread; look-ups from several.
// Cost:     24 bytes a block and 4 bytes for each page from the first block of a cluster to its last, but for the
//           pages of a block of more than 4 MiB; a look-up of what
//           is no address of the heap 2 ns, of a block some 10 ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

// How a block is reached when the program ends; in the order of what is worse.
enum class LeakKind : uint8_t {
  kUnjudged,      // nobody knows: it was not there yet when the memory was looked at
  kReachable,     // a chain of pointers to starts of blocks leads to it
  kPossiblyLost,  // only a pointer into its middle does, here or on the way
  kIndirectly,    // only blocks that are lost lead to it
  kLost           // nothing does
};
inline constexpr size_t kLeakKinds = 5;

struct LeakBlock {
  uint64_t start;
  uint64_t size_bytes;
  uint32_t site;
  uint32_t holder : 24 = 0;  // of root_holders.h; 0: none
  LeakKind kind : 8 = LeakKind::kUnjudged;

  uint64_t end() const { return start + (size_bytes == 0 ? 1 : size_bytes); }
};
static_assert(sizeof(LeakBlock) == 24);

class BlockTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // pre: fewer than kNone blocks; blocks whose end is no address, or that lie within others, are left out
  explicit BlockTable(std::vector<LeakBlock> blocks);

  size_t size() const { return blocks_.size(); }
  const LeakBlock& operator[](uint32_t index) const { return blocks_[index]; }
  LeakBlock& operator[](uint32_t index) { return blocks_[index]; }
  const std::vector<LeakBlock>& blocks() const { return blocks_; }
  // The block that holds this address.
  uint32_t find(uint64_t address) const;
  // The first block that ends behind this address; size() if there is none.
  uint32_t first_behind(uint64_t address) const;

 private:
  // Pages without a large gap: first[i] is the first block that begins on its page i or later.
  struct Cluster {
    uint64_t first_page;
    uint64_t pages;
    uint64_t index_off;
    uint64_t end;  // of its last block, whose pages have no entries where they are many
  };

  std::vector<LeakBlock> blocks_;
  std::vector<Cluster> clusters_;
  std::vector<uint32_t> index_;
};

}  // namespace heapprof::cli
