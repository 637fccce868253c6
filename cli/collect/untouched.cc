// cli/collect/untouched.cc: first the books list the large blocks, then the kernel says how many pages each has. Then
// the books are read again, to find blocks that were freed in the meantime.
#include "cli/collect/untouched.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <new>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kLeastBlockBytes = 64 << 10;
constexpr uint64_t kLeastBytes = 8 << 20;
constexpr uint64_t kSettleNs = 50'000'000;
constexpr uint64_t kIntervalNs = 100'000'000;
constexpr uint64_t kPartOfTime = 100;
constexpr size_t kMostBlocks = 1'000'000;
constexpr size_t kManyFound = 1'000;
constexpr uint64_t kPageMask = 4096 - 1;

using Life = BlockPages::Life;

bool is_before(const BlockPages& a, const BlockPages& b) { return a.address < b.address; }

// If a new block begins at the same address, it is another block.
bool is_live(const BlockPages& block, Ledger* ledger) {
  const std::optional<Block> live = ledger->find_live(block.address);
  return live && live->birth == block.birth && live->size_bytes == block.size_bytes;
}

// Whether these are the mappings of the image whose books these are.
bool is_image(const TargetMemory& memory, uint64_t arena_inode) {
  return arena_inode == 0 ||
         std::any_of(memory.mappings().begin(), memory.mappings().end(), [arena_inode](const TargetMapping& mapping) {
           return mapping.inode == arena_inode && mapping.path.starts_with("/memfd:");
         });
}

std::optional<std::vector<BlockPages>> look_at_blocks(const UntouchedWatch::Target& target,
                                                      std::vector<BlockPages>* blocks,
                                                      const std::function<bool()>& has_to_stop) {
  TargetMemory memory(target.pid);
  memory.set_interrupt(has_to_stop);
  if (!memory.tells_pages()) return std::nullopt;
  // A block that is no longer mapped was freed just now.
  const auto is_nowhere = [&memory](const BlockPages& block) {
    return memory.mapping_of(block.address) == nullptr ||
           memory.mapping_of(block.address + block.size_bytes - 1) == nullptr;
  };
  blocks->erase(std::remove_if(blocks->begin(), blocks->end(), is_nowhere), blocks->end());
  std::sort(blocks->begin(), blocks->end(), is_before);
  for (BlockPages& block : *blocks) {
    const MemoryRange whole{(block.address + kPageMask) & ~kPageMask, (block.address + block.size_bytes) & ~kPageMask};
    block.untouched_bytes = whole.end - whole.start;
    for (const MemoryRange& pages : memory.pages_of(whole)) block.untouched_bytes -= pages.end - pages.start;
  }
  if (memory.is_gone() || memory.has_unknown_pages() || has_to_stop()) return std::nullopt;
  // The process may have called exec before the look or during it. Then these pages belong to another image.
  if (!is_image(memory, target.arena_inode) || !is_image(TargetMemory(target.pid), target.arena_inode))
    return std::nullopt;
  return std::move(*blocks);
}

}  // namespace

uint64_t UntouchedWatch::Found::untouched_bytes() const {
  uint64_t sum = 0;
  for (const BlockPages& block : blocks) sum += block.untouched_bytes;
  return sum;
}

void UntouchedWatch::begin(const Moment& moment, const Target& target, Ledger* ledger) {
  const auto blocks = std::make_shared<std::vector<BlockPages>>();
  ledger->for_each_live([&](const Block& block) {
    if (block.size_bytes >= kLeastBlockBytes && block.address + block.size_bytes > block.address)
      blocks->push_back({block.address, block.size_bytes, block.birth, 0, block.site});
  });
  look_ = std::make_unique<Look>(
      [target, blocks](const auto& has_to_stop) { return look_at_blocks(target, blocks.get(), has_to_stop); });
  begun_ns_ = moment.now_ns;
  looked_ns_ = 0;
  grown_before_bytes_ = grown_bytes_;
}

// Whether more than this many untouched bytes of live blocks may have been touched since the look: either more bytes
// became resident; or the bytes that are live and not resident shrank by more than these bytes plus the untouched bytes
// that were freed.
bool UntouchedWatch::may_be_touched(uint64_t bytes) const {
  const uint64_t freed = untouched_then_bytes_ - std::min(untouched_then_bytes_, untouched_live_bytes_);
  const uint64_t fallen = lacking_then_bytes_ - std::min(lacking_then_bytes_, lacking_bytes_);
  return grown_bytes_ > bytes || fallen > freed + bytes;
}

bool UntouchedWatch::is_stale() const {
  return untouched_live_bytes_ != 0 && may_be_touched(untouched_live_bytes_ / 4);
}

// Finds the blocks of found_ that were freed: keeps them if they were still untouched, drops them if that is uncertain.
void UntouchedWatch::settle_ended(Ledger* ledger) {
  uint64_t ended_bytes = 0;
  for (BlockPages& block : found_->blocks) {
    if (block.life != Life::kLive || is_live(block, ledger)) continue;
    block.life = Life::kEndsNow;
    ended_bytes += block.untouched_bytes;
  }
  has_freed_ = false;
  untouched_live_bytes_ -= ended_bytes;
  if (may_be_touched(ended_bytes / 4))
    std::erase_if(found_->blocks, [](const BlockPages& block) { return block.life == Life::kEndsNow; });
  for (BlockPages& block : found_->blocks) {
    if (block.life == Life::kEndsNow) block.life = Life::kEnded;
  }
}

void UntouchedWatch::note(const Moment& moment, uint64_t live_bytes, Ledger* ledger) {
  if (moment.resident_bytes > last_resident_bytes_) grown_bytes_ += moment.resident_bytes - last_resident_bytes_;
  has_freed_ = has_freed_ || live_bytes < last_live_bytes_;
  last_resident_bytes_ = moment.resident_bytes;
  last_live_bytes_ = live_bytes;
  lacking_bytes_ = live_bytes - std::min(live_bytes, moment.resident_bytes);
  if (!found_ || !has_freed_ || moment.now_ns < next_settle_ns_) return;
  if (found_->blocks.size() > kManyFound) next_settle_ns_ = moment.now_ns + kIntervalNs;
  settle_ended(ledger);
}

// Takes over what a look found about blocks that are still live.
void UntouchedWatch::merge(std::vector<BlockPages>* seen, Ledger* ledger) {
  const auto has_ended = [ledger](const BlockPages& block) { return !is_live(block, ledger); };
  seen->erase(std::remove_if(seen->begin(), seen->end(), has_ended), seen->end());
  if (found_) {
    settle_ended(ledger);
    for (BlockPages& block : found_->blocks) {
      const auto now = std::lower_bound(seen->begin(), seen->end(), block, is_before);
      if (block.life != Life::kLive || now == seen->end() || now->address != block.address || now->birth != block.birth)
        continue;
      block.untouched_bytes = std::min(block.untouched_bytes, now->untouched_bytes);
    }
  }
  Found latest{begun_ns_, std::move(*seen)};
  if (!found_ || latest.untouched_bytes() >= found_->untouched_bytes()) found_ = std::move(latest);
  grown_bytes_ -= grown_before_bytes_;
  lacking_then_bytes_ = lacking_bytes_;
  untouched_live_bytes_ = 0;
  for (const BlockPages& block : found_->blocks)
    if (block.life == Life::kLive) untouched_live_bytes_ += block.untouched_bytes;
  untouched_then_bytes_ = untouched_live_bytes_;
  if (found_->untouched_bytes() < kLeastBytes) found_.reset();
}

void UntouchedWatch::step(const Moment& moment, const Target& target, Ledger* ledger) {
  const uint64_t live = ledger->sites().totals().live.bytes;
  const uint64_t lacking = live - std::min(live, moment.resident_bytes);
  if (lacking < std::max(kLeastBytes, live / 4)) {
    since_ns_ = 0;
    if (!found_ && look_ == nullptr) return;  // nearly always
  } else if (since_ns_ == 0) {
    since_ns_ = moment.now_ns;
    next_ns_ = std::max(moment.now_ns + kSettleNs, earliest_ns_);
  }
  if (!found_) untouched_live_bytes_ = 0;
  if (!found_ && look_ == nullptr) {
    last_resident_bytes_ = moment.resident_bytes;
    last_live_bytes_ = live;
    grown_bytes_ = 0;
  }
  note(moment, live, ledger);
  if (look_ != nullptr) {
    if (!look_->is_done()) return;
    if (looked_ns_ == 0) {
      looked_ns_ = moment.now_ns;
      earliest_ns_ = moment.now_ns + look_->took_ns() * kPartOfTime;
    }
    if (moment.books_ns < looked_ns_) return;
    try {
      std::optional<std::vector<BlockPages>> seen = look_->take();
      if (seen) merge(&*seen, ledger);
    } catch (const std::bad_alloc&) {
      found_.reset();
    }
    look_.reset();
    next_ns_ = std::max(earliest_ns_, moment.now_ns + std::max(kIntervalNs, (moment.now_ns - since_ns_) / 2));
    return;
  }
  if (is_stale() ? moment.now_ns < earliest_ns_ : since_ns_ == 0 || moment.now_ns < next_ns_) return;
  next_ns_ = moment.now_ns + kIntervalNs;  // if the look cannot begin
  if (ledger->live_blocks() > kMostBlocks) return;
  try {
    begin(moment, target, ledger);
  } catch (const std::bad_alloc&) {  // memory for the look ran out, not for the books
    next_ns_ = UINT64_MAX;
    earliest_ns_ = UINT64_MAX;
  }
}

std::optional<UntouchedWatch::Found> UntouchedWatch::at_end() const {
  if (!found_) return std::nullopt;
  Found found = *found_;
  if (is_stale()) std::erase_if(found.blocks, [](const BlockPages& block) { return block.life == Life::kLive; });
  if (found.untouched_bytes() < kLeastBytes) return std::nullopt;
  return found;
}

}  // namespace heapprof::cli
