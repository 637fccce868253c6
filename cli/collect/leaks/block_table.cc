// cli/collect/leaks/block_table.cc: finds blocks in two steps. Most words of a program are no pointers, so a look-up
// first checks whether the word is in one of the few clusters of the heap. Then a page's entry leads to the blocks that
// begin on this page.
#include "cli/collect/leaks/block_table.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

constexpr uint64_t kPageBits = 12;
constexpr uint64_t kMostGapPages = 256;     // between two pages of a cluster: 1 KiB of index
constexpr uint64_t kMostBlockPages = 1024;  // of one block; this is more than a gap, so a block with more pages ends
                                            // its cluster
constexpr uint64_t kEndOfAddresses = uint64_t{1} << 56;

uint64_t page_of(uint64_t address) { return address >> kPageBits; }

bool is_possible(const LeakBlock& block) {
  return block.start < kEndOfAddresses && block.size_bytes < kEndOfAddresses - block.start;
}

}  // namespace

BlockTable::BlockTable(std::vector<LeakBlock> blocks) : blocks_(std::move(blocks)) {
  std::erase_if(blocks_, [](const LeakBlock& block) { return !is_possible(block); });
  std::sort(blocks_.begin(), blocks_.end(), [](const LeakBlock& a, const LeakBlock& b) { return a.start < b.start; });
  uint64_t end = 0;
  std::erase_if(blocks_, [&end](const LeakBlock& block) {
    if (block.start < end) return true;
    end = block.end();
    return false;
  });
  for (uint32_t i = 0; i < blocks_.size(); ++i) {
    const uint64_t first = page_of(blocks_[i].start);
    const uint64_t last = page_of(blocks_[i].end() - 1);
    if (clusters_.empty() || first > clusters_.back().first_page + clusters_.back().pages + kMostGapPages)
      clusters_.push_back({first, 0, index_.size(), 0});
    Cluster& cluster = clusters_.back();
    while (cluster.first_page + cluster.pages <= first) {
      index_.push_back(i);
      ++cluster.pages;
    }
    cluster.end = blocks_[i].end();
    if (last - first > kMostBlockPages) continue;
    while (cluster.first_page + cluster.pages <= last) {
      index_.push_back(i + 1);
      ++cluster.pages;
    }
  }
  index_.push_back(static_cast<uint32_t>(blocks_.size()));  // after the last cluster's last page
}

uint32_t BlockTable::find(uint64_t address) const {
  const uint64_t page = page_of(address);
  const auto behind = std::upper_bound(clusters_.begin(), clusters_.end(), page,
                                       [](uint64_t wanted, const Cluster& it) { return wanted < it.first_page; });
  if (behind == clusters_.begin()) return kNone;
  const Cluster& cluster = *(behind - 1);
  const uint64_t offset = page - cluster.first_page;
  if (address >= cluster.end) return kNone;
  if (offset >= cluster.pages) return index_[cluster.index_off + cluster.pages] - 1;
  // The entry after a cluster's last page is the next cluster's first, whose blocks are the next as well.
  const auto first = blocks_.begin() + index_[cluster.index_off + offset];
  const auto last = blocks_.begin() + index_[cluster.index_off + offset + 1];
  auto at = std::upper_bound(first, last, address,
                             [](uint64_t wanted, const LeakBlock& block) { return wanted < block.start; });
  if (at == blocks_.begin()) return kNone;
  --at;
  return address < at->end() ? static_cast<uint32_t>(at - blocks_.begin()) : kNone;
}

uint32_t BlockTable::first_behind(uint64_t address) const {
  const auto at = std::partition_point(blocks_.begin(), blocks_.end(),
                                       [address](const LeakBlock& block) { return block.end() <= address; });
  return static_cast<uint32_t>(at - blocks_.begin());
}

}  // namespace heapprof::cli
