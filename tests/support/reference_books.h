// tests/support/reference_books.h: the books of a process kept as simply as can be, to compare the collector's with.
//
// One map of blocks, one map of sites by their whole stack, a copy of everything at every new peak. Slow and plain on
// purpose.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapprof::test {

struct ReferenceSite {
  uint64_t total_bytes = 0, total_blocks = 0;
  uint64_t live_bytes = 0, live_blocks = 0;
  uint64_t max_bytes = 0, max_blocks = 0;
  uint64_t temporary_blocks = 0;
  uint64_t lifetime = 0;
  uint64_t first_leak = 0, last_leak = 0;
  std::vector<uint64_t> sizes;  // of every block ever
};

template <typename SiteKey>
class ReferenceBooks {
 public:
  struct Block {
    uint64_t size_bytes;
    uint64_t birth;
    SiteKey site;
    uint32_t thread;
    uint64_t serial;  // of the allocation within its thread
  };
  struct AtPeak {
    uint64_t bytes = 0, blocks = 0;
  };

  void allocate(uint64_t address, uint64_t size_bytes, const SiteKey& site, uint32_t thread, uint64_t time) {
    begin(address, size_bytes, site, thread, time);
    check_peak(time);
  }
  void release(uint64_t address, uint64_t time) { end(address, time, true); }
  void reallocate(uint64_t old_address, uint64_t address, uint64_t size_bytes, const SiteKey& site, uint32_t thread,
                  uint64_t time) {
    end(old_address, time, false);
    begin(address, size_bytes, site, thread, time);
    check_peak(time);
  }
  bool is_live(uint64_t address) const { return blocks.count(address) != 0; }

  void finish(uint64_t time) {
    for (const auto& [address, block] : blocks) {
      ReferenceSite& site = sites[block.site];
      site.lifetime += time - block.birth;
      site.first_leak = site.first_leak == 0 ? block.birth : std::min(site.first_leak, block.birth);
      site.last_leak = std::max(site.last_leak, block.birth);
    }
  }

  std::map<uint64_t, Block> blocks;
  std::map<SiteKey, ReferenceSite> sites;
  std::map<SiteKey, AtPeak> at_peak;
  uint64_t live_bytes = 0, live_blocks = 0, total_bytes = 0, total_blocks = 0, temporary_blocks = 0;
  uint64_t peak_bytes = 0, peak_blocks = 0, peak_time = 0, max_blocks = 0, max_blocks_time = 0;

 private:
  void begin(uint64_t address, uint64_t size_bytes, const SiteKey& key, uint32_t thread, uint64_t time) {
    blocks[address] = {size_bytes, time, key, thread, ++serials_[thread]};
    ReferenceSite& site = sites[key];
    site.total_bytes += size_bytes;
    site.total_blocks += 1;
    site.live_bytes += size_bytes;
    site.live_blocks += 1;
    site.sizes.push_back(size_bytes);
    if (site.live_bytes > site.max_bytes || (site.live_bytes == site.max_bytes && site.live_blocks > site.max_blocks)) {
      site.max_bytes = site.live_bytes;
      site.max_blocks = site.live_blocks;
    }
    total_bytes += size_bytes;
    total_blocks += 1;
    live_bytes += size_bytes;
    live_blocks += 1;
  }
  void end(uint64_t address, uint64_t time, bool may_be_temporary) {
    const Block block = blocks.at(address);
    blocks.erase(address);
    ReferenceSite& site = sites[block.site];
    site.live_bytes -= block.size_bytes;
    site.live_blocks -= 1;
    site.lifetime += time - block.birth;
    live_bytes -= block.size_bytes;
    live_blocks -= 1;
    if (may_be_temporary && serials_[block.thread] == block.serial) {
      site.temporary_blocks += 1;
      temporary_blocks += 1;
    }
  }
  void check_peak(uint64_t time) {
    if (live_bytes > peak_bytes) {
      peak_bytes = live_bytes;
      peak_blocks = live_blocks;
      peak_time = time;
      at_peak.clear();
      for (const auto& [key, site] : sites) at_peak[key] = {site.live_bytes, site.live_blocks};
    }
    if (live_blocks > max_blocks) {
      max_blocks = live_blocks;
      max_blocks_time = time;
    }
  }

  std::map<uint32_t, uint64_t> serials_;
};

}  // namespace heapprof::test
