// cli/collect/fragmentation.cc: makes two passes over the live blocks, with an array by page between them. So nothing
// is sorted, and only pages that have blocks take memory.
#include "cli/collect/fragmentation.h"

#include "cli/collect/leaks/block_table.h"
#include "cli/collect/leaks/target_memory.h"
#include "cli/collect/memory/mapped_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kLeastBytes = 8 << 20;
constexpr uint64_t kFallenNs = 100'000'000;
constexpr uint64_t kPartOfTime = 100;
constexpr size_t kMostBlocks = 1'000'000;
constexpr uint64_t kPageMask = PageOccupancy::kPageBytes - 1;
constexpr uint16_t kSparse = 1 << 15;  // a bit of an entry; the lower bits are a number of bytes
constexpr uint64_t kMostRangeBytes = uint64_t{1} << 40;

// About where the memory that a block takes ends. This is glibc's rule; other allocators take a little less.
uint64_t taken_end(uint64_t address, uint64_t size_bytes) {
  const uint64_t end = address + std::max<uint64_t>(1, size_bytes);
  const uint64_t taken = std::max<uint64_t>(32, (size_bytes + 8 + 15) & ~uint64_t{15});
  return std::min(address + taken, ((end - 1) | kPageMask) + 1);
}

bool may_be_heap(const TargetMapping& mapping) {
  if (!mapping.is_writable || mapping.is_shared || mapping.inode != 0) return false;
  return mapping.path.empty() || mapping.path == "[heap]" || mapping.path.starts_with("[anon");
}

// The ranges as whole pages, sorted, adjacent ones merged.
std::vector<MemoryRange> in_pages(std::vector<MemoryRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const MemoryRange& a, const MemoryRange& b) { return a.start < b.start; });
  std::vector<MemoryRange> merged;
  for (const MemoryRange& range : ranges) {
    const MemoryRange pages = {range.start & ~kPageMask, (range.end + kPageMask) & ~kPageMask};
    if (pages.end <= pages.start) continue;
    if (!merged.empty() && pages.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, pages.end);
    } else {
      merged.push_back(pages);
    }
  }
  return merged;
}

}  // namespace

PageOccupancy::PageOccupancy(const std::vector<MemoryRange>& ranges) {
  size_t pages = 0;
  for (const MemoryRange& range : ranges) {
    regions_.push_back({range, pages, false});
    pages += (range.end - range.start) / kPageBytes;
  }
  pages_bytes_ = (std::max<size_t>(1, pages) * sizeof(uint16_t) + kPageMask) & ~kPageMask;
  pages_ = static_cast<uint16_t*>(map_zeroed(pages_bytes_));
  ::madvise(pages_, pages_bytes_, MADV_NOHUGEPAGE);  // blocks may lie far from each other
}

PageOccupancy::~PageOccupancy() { unmap(pages_, pages_bytes_); }

PageOccupancy::Region* PageOccupancy::region_of(uint64_t address) {
  const auto has = [address](const Region& region) {
    return address >= region.range.start && address < region.range.end;
  };
  if (latest_ < regions_.size() && has(regions_[latest_])) return &regions_[latest_];
  const auto behind = std::upper_bound(regions_.begin(), regions_.end(), address,
                                       [](uint64_t at, const Region& region) { return at < region.range.start; });
  if (behind == regions_.begin() || !has(*(behind - 1))) return nullptr;
  latest_ = static_cast<size_t>(behind - 1 - regions_.begin());
  return &regions_[latest_];
}

// Calls visit(entry, bytes in it) for each page that the block touches.
template <typename Visit>
void PageOccupancy::for_each_page(uint64_t address, uint64_t size_bytes, const Visit& visit) {
  Region* const region = region_of(address);
  if (region == nullptr) return;
  region->is_used = true;
  const uint64_t room = region->range.end - address;
  const uint64_t end = std::min(region->range.end, taken_end(address, std::min(size_bytes, room)));
  uint16_t* entry = pages_ + region->first_page + (address - region->range.start) / kPageBytes;
  for (uint64_t at = address; at < end; ++entry) {
    const uint64_t next = std::min(end, (at | kPageMask) + 1);
    visit(*entry, next - at);
    at = next;
  }
}

void PageOccupancy::add(uint64_t address, uint64_t size_bytes) {
  for_each_page(address, size_bytes, [](uint16_t& entry, uint64_t bytes) {
    entry = static_cast<uint16_t>(std::min<uint64_t>(kPageBytes, entry + bytes));
  });
}

std::vector<MemoryRange> PageOccupancy::used_ranges() const {
  std::vector<MemoryRange> used;
  for (const Region& region : regions_) {
    if (region.is_used) used.push_back(region.range);
  }
  return used;
}

void PageOccupancy::judge(MemoryRange pages) {
  const Region* const region = region_of(pages.start);
  if (region == nullptr) return;
  const uint64_t end = std::min(pages.end, region->range.end);
  uint16_t* entry = pages_ + region->first_page + (pages.start - region->range.start) / kPageBytes;
  is_in_piece_ = is_in_piece_ && region == judged_;
  judged_ = region;
  for (uint64_t at = pages.start; at < end; at += kPageBytes, ++entry) {
    result_.resident_bytes += kPageBytes;
    if (*entry == 0) {
      result_.empty_bytes += kPageBytes;
      if (!is_in_piece_) ++result_.empty_pieces;
    } else if (*entry < kPageBytes / 2) {
      result_.sparse_bytes += kPageBytes - *entry;
      *entry |= kSparse;
    }
    is_in_piece_ = (*entry & ~kSparse) == 0;
  }
}

void PageOccupancy::pin(uint64_t address, uint64_t size_bytes, uint32_t site) {
  uint64_t share = 0;
  bool is_pinning = false;
  for_each_page(address, size_bytes, [&](const uint16_t& entry, uint64_t bytes) {
    if ((entry & kSparse) == 0) return;
    const uint64_t used = entry & ~kSparse;
    share += (kPageBytes - used) * bytes / used;
    is_pinning = true;
  });
  if (!is_pinning) return;
  if (site >= parts_.size()) parts_.resize(site + 1);
  parts_[site].site = site;
  parts_[site].bytes += share;
  ++parts_[site].blocks;
}

HeapPages PageOccupancy::result() const {
  HeapPages result = result_;
  for (const LostPart& part : parts_) {
    if (part.blocks != 0 && part.site != 0) result.pinning.push_back(part);  // 0: blocks that were left out
  }
  std::stable_sort(result.pinning.begin(), result.pinning.end(),
                   [](const LostPart& a, const LostPart& b) { return a.bytes > b.bytes; });
  if (result.pinning.size() > kMostParts) result.pinning.resize(kMostParts);
  return result;
}

namespace {

struct HeapQuestion {
  FragmentationWatch::Target target;
  std::vector<LeakBlock> blocks;
  std::vector<MemoryRange> mapped;  // by the program itself
};

std::optional<HeapPages> look_at_heap(const HeapQuestion& question, const std::function<bool()>& has_to_stop) {
  constexpr size_t kBlocksAtOnce = 65'536;
  TargetMemory memory(question.target.pid);
  memory.set_interrupt(has_to_stop);
  if (!memory.tells_pages()) return std::nullopt;
  std::vector<MemoryRange> others =
      read_own_pages(question.target.own_pages_avma, question.target.own_pages_count, &memory);
  if (others.empty() && question.target.own_pages_count != 0)
    return std::nullopt;  // they cannot be distinguished from the heap's
  others.insert(others.end(), question.mapped.begin(), question.mapped.end());
  std::vector<MemoryRange> ranges;
  for (const TargetMapping& mapping : memory.mappings()) {
    if (may_be_heap(mapping) && mapping.bytes() <= kMostRangeBytes) ranges.push_back(mapping.range);
  }
  PageOccupancy occupancy(without(ranges, in_pages(std::move(others))));
  const auto for_each_block = [&](const auto& visit) {
    for (size_t i = 0; i < question.blocks.size(); ++i) {
      if (i % kBlocksAtOnce == 0 && has_to_stop()) return;
      visit(question.blocks[i]);
    }
  };
  for_each_block([&](const LeakBlock& block) { occupancy.add(block.start, block.size_bytes); });
  for (const MemoryRange& range : occupancy.used_ranges()) {
    for (const MemoryRange& pages : memory.written_pages(range)) occupancy.judge(pages);
  }
  for_each_block([&](const LeakBlock& block) { occupancy.pin(block.start, block.size_bytes, block.site); });
  if (memory.is_gone() || memory.has_unknown_pages() || has_to_stop()) return std::nullopt;
  return occupancy.result();
}

}  // namespace

void FragmentationWatch::begin(uint64_t now_ns, const Target& target, Ledger* ledger) {
  HeapQuestion question{target, {}, {}};
  question.blocks.reserve(ledger->live_blocks());
  const auto add = [&](const Block& block) {
    question.blocks.push_back({block.address, block.size_bytes, block.site});
  };
  ledger->for_each_live(add);
  ledger->for_each_begun(add);
  ledger->for_each_left_out([&](uint64_t address, uint64_t size_bytes) {
    if (question.blocks.size() < 2 * kMostBlocks) question.blocks.push_back({address, size_bytes, 0});
  });
  ledger->mappings().for_each_range([&](const PagePiece& piece) {
    question.mapped.push_back({piece.start, piece.end});
  });
  look_ = std::make_unique<BackgroundLook<HeapPages>>(
      [question = std::move(question)](const auto& has_to_stop) { return look_at_heap(question, has_to_stop); });
  begun_ns_ = now_ns;
  begun_live_bytes_ = ledger->sites().totals().live.bytes;
}

void FragmentationWatch::step(uint64_t now_ns, uint64_t resident_bytes, const Target& target, Ledger* ledger) {
  const uint64_t live = ledger->sites().totals().live.bytes;
  const uint64_t peak = ledger->sites().totals().peak.bytes;
  const MappingLedger& mappings = ledger->mappings();
  const uint64_t known = live + mappings.live_bytes(wire::kMappedDevice) + mappings.live_bytes(wire::kMappedFileDevice);
  const bool has_fallen = live <= peak / 2 && peak - live >= kLeastBytes;
  // If the heap has fallen and little memory is resident beyond what is known, the freed memory went back to the
  // system.
  if (!has_fallen || resident_bytes < known + std::max(kLeastBytes, (peak - live) / 4)) {
    since_ns_ = 0;
    look_.reset();
    found_.reset();
    return;
  }
  lowest_bytes_ = std::min(live, lowest_bytes_);
  const uint64_t rise_bytes = live - lowest_bytes_;
  if (rise_bytes > freed_bytes_ / 16) risen_bytes_ = std::max(risen_bytes_, live);
  // If the heap fell further by a quarter, other memory is unused now than before. If more than a quarter of the freed
  // memory is in use again, the time in which memory is unused starts anew.
  const bool fell_further = peak - live > freed_bytes_ + freed_bytes_ / 4;
  const bool is_used_again = rise_bytes > freed_bytes_ / 4;
  if (since_ns_ == 0 || fell_further || is_used_again) {
    since_ns_ = now_ns;
    freed_bytes_ = peak - live;
    lowest_bytes_ = live;
    risen_bytes_ = 0;
    if (is_used_again) {
      found_.reset();
      look_.reset();
    }
    next_ns_ = std::max(now_ns + kFallenNs, earliest_ns_);
  }
  if (found_) found_->most_bytes = std::max(found_->most_bytes, live);
  // The process uses some of the unused memory again, or gave it back.
  if (found_ && (live > found_->live_bytes + found_->pages.unused_bytes() / 4 ||
                 resident_bytes + found_->pages.unused_bytes() / 4 < found_->resident_bytes)) {
    found_.reset();
    next_ns_ = std::max(now_ns + kFallenNs, earliest_ns_);
  }
  if (look_ != nullptr) {
    if (!look_->is_done()) return;
    const uint64_t took_ns = look_->took_ns();
    if (std::optional<HeapPages> pages = look_->take())
      found_ = Found{since_ns_, begun_ns_, begun_live_bytes_, risen_bytes_, resident_bytes, std::move(*pages)};
    look_.reset();
    earliest_ns_ = now_ns + took_ns * kPartOfTime;
    next_ns_ = std::max(earliest_ns_, now_ns + (now_ns - since_ns_) / 2);
  }
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + std::max(kFallenNs, (now_ns - since_ns_) / 2);  // if the look cannot begin
  if (ledger->live_blocks() > kMostBlocks) return;
  try {
    begin(now_ns, target, ledger);
  } catch (const std::bad_alloc&) {  // memory for the look ran out, not for the books
    next_ns_ = UINT64_MAX;
  }
}

std::optional<FragmentationWatch::Found> FragmentationWatch::at_end(const Ledger& ledger) const {
  const uint64_t live = ledger.sites().totals().live.bytes;
  if (!found_ || live > ledger.sites().totals().peak.bytes / 2) return std::nullopt;
  Found found = *found_;
  const uint64_t most = std::max(live, found.most_bytes);
  uint64_t used = most - std::min(most, found.live_bytes);  // part of the unused memory that was in use at another time
  HeapPages& pages = found.pages;
  if (used >= pages.unused_bytes()) return std::nullopt;
  const uint64_t of_empty = std::min(used, pages.empty_bytes);
  pages.empty_bytes -= of_empty;
  pages.empty_pieces = pages.empty_bytes == 0 ? 0 : std::min(pages.empty_pieces, pages.empty_bytes);
  if (used == of_empty) return found;
  __extension__ using Wide = unsigned __int128;
  const uint64_t left = pages.sparse_bytes - (used - of_empty);
  for (LostPart& part : pages.pinning) part.bytes = static_cast<uint64_t>(Wide{part.bytes} * left / pages.sparse_bytes);
  pages.sparse_bytes = left;
  return found;
}

}  // namespace heapprof::cli
