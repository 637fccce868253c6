// cli/collect/untouched.cc: a list of the large blocks, from the books; how many pages each has, from the kernel; and
// once more the books, to tell blocks that were freed while the kernel was asked.
#include "cli/collect/untouched.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <functional>
#include <new>
#include <unordered_map>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kLeastBlockBytes = 64 << 10;
constexpr uint64_t kLeastBytes = 8 << 20;
constexpr uint64_t kSettleNs = 50'000'000;
constexpr uint64_t kIntervalNs = 100'000'000;
constexpr uint64_t kPartOfTime = 100;
constexpr size_t kMostBlocks = 1'000'000;
constexpr uint64_t kPageMask = 4096 - 1;

std::optional<std::vector<BlockPages>> look_at_blocks(pid_t pid, const std::vector<BlockPages>& blocks,
                                                      const std::function<bool()>& has_to_stop) {
  TargetMemory memory(pid);
  memory.set_interrupt(has_to_stop);
  if (!memory.tells_pages()) return std::nullopt;
  std::vector<BlockPages> seen = blocks;
  for (BlockPages& block : seen) {
    const MemoryRange whole{(block.address + kPageMask) & ~kPageMask, (block.address + block.size_bytes) & ~kPageMask};
    block.untouched_bytes = whole.end - whole.start;
    for (const MemoryRange& pages : memory.pages_of(whole)) block.untouched_bytes -= pages.end - pages.start;
  }
  if (memory.is_gone() || memory.has_unknown_pages() || has_to_stop()) return std::nullopt;
  return seen;
}

// An address that begins a block again begins another one.
bool is_same(const BlockPages& a, const BlockPages& b) { return a.birth == b.birth && a.size_bytes == b.size_bytes; }

}  // namespace

uint64_t UntouchedWatch::Found::untouched_bytes() const {
  uint64_t sum = 0;
  for (const BlockPages& block : blocks) sum += block.untouched_bytes;
  return sum;
}

void UntouchedWatch::begin(const Moment& moment, pid_t pid, Ledger* ledger) {
  std::vector<BlockPages> blocks;
  ledger->for_each_live([&](const Block& block) {
    if (block.size_bytes >= kLeastBlockBytes && block.address + block.size_bytes > block.address)
      blocks.push_back({block.address, block.size_bytes, block.birth, 0, block.site});
  });
  look_ = std::make_unique<BackgroundLook<std::vector<BlockPages>>>(
      [pid, blocks = std::move(blocks)](const auto& has_to_stop) { return look_at_blocks(pid, blocks, has_to_stop); });
  begun_ns_ = moment.now_ns;
  looked_ns_ = 0;
}

// Resident bytes grow when blocks are touched that are new, and when those are that were found.
void UntouchedWatch::count_touched(const Moment& moment, uint64_t live_bytes) {
  if (live_bytes > last_live_bytes_) new_bytes_ += live_bytes - last_live_bytes_;
  if (moment.resident_bytes > last_resident_bytes_) {
    const uint64_t grown = moment.resident_bytes - last_resident_bytes_;
    const uint64_t of_new = std::min(grown, new_bytes_);
    new_bytes_ -= of_new;
    touched_bytes_ += grown - of_new;
  }
  last_live_bytes_ = live_bytes;
  last_resident_bytes_ = moment.resident_bytes;
}

// Takes what a look saw of blocks that live on.
void UntouchedWatch::merge(std::vector<BlockPages>* seen, Ledger* ledger) {
  const auto has_ended = [ledger](const BlockPages& block) {
    const std::optional<Block> live = ledger->find_live(block.address);
    return !live || !is_same(block, {block.address, live->size_bytes, live->birth, 0, live->site});
  };
  seen->erase(std::remove_if(seen->begin(), seen->end(), has_ended), seen->end());
  const bool is_stale = found_ && touched_bytes_ > found_->untouched_bytes() / 4;
  if (found_) {
    std::unordered_map<uint64_t, const BlockPages*> by_address;
    for (const BlockPages& block : *seen) by_address[block.address] = &block;
    const auto correct = [&](BlockPages& block) {
      const auto now = by_address.find(block.address);
      if (now == by_address.end() || !is_same(block, *now->second)) return is_stale;
      block.untouched_bytes = std::min(block.untouched_bytes, now->second->untouched_bytes);
      return false;
    };
    std::vector<BlockPages>& known = found_->blocks;
    known.erase(std::remove_if(known.begin(), known.end(), correct), known.end());
  }
  Found latest{begun_ns_, std::move(*seen)};
  if (!found_ || latest.untouched_bytes() >= found_->untouched_bytes()) found_ = std::move(latest);
  touched_bytes_ -= touched_before_;
  if (found_->untouched_bytes() < kLeastBytes) found_.reset();
}

void UntouchedWatch::step(const Moment& moment, pid_t pid, Ledger* ledger) {
  const uint64_t live = ledger->sites().totals().live.bytes;
  const uint64_t lacking = live - std::min(live, moment.resident_bytes);
  if (lacking < std::max(kLeastBytes, live / 4)) {
    since_ns_ = 0;
    if (!found_ && look_ == nullptr) return;  // nearly always
  } else if (since_ns_ == 0) {
    since_ns_ = moment.now_ns;
    next_ns_ = std::max(moment.now_ns + kSettleNs, earliest_ns_);
  }
  if (found_ || look_ != nullptr) count_touched(moment, live);
  const bool is_stale = found_ && touched_bytes_ > found_->untouched_bytes() / 4;
  if (look_ != nullptr) {
    if (!look_->is_done()) return;
    if (looked_ns_ == 0) {
      looked_ns_ = moment.now_ns;
      earliest_ns_ = moment.now_ns + (moment.now_ns - begun_ns_) * kPartOfTime;
    }
    if (moment.books_ns < looked_ns_) return;
    std::optional<std::vector<BlockPages>> seen = look_->take();
    look_.reset();
    try {
      if (seen) merge(&*seen, ledger);
    } catch (const std::bad_alloc&) {
      found_.reset();
    }
    next_ns_ = std::max(earliest_ns_, moment.now_ns + std::max(kIntervalNs, (moment.now_ns - since_ns_) / 2));
    return;
  }
  if (is_stale ? moment.now_ns < earliest_ns_ : since_ns_ == 0 || moment.now_ns < next_ns_) return;
  next_ns_ = moment.now_ns + kIntervalNs;  // where it cannot begin
  if (ledger->live_blocks() > kMostBlocks) return;
  if (!found_) touched_bytes_ = 0;
  touched_before_ = touched_bytes_;
  new_bytes_ = 0;
  last_live_bytes_ = live;
  last_resident_bytes_ = moment.resident_bytes;
  try {
    begin(moment, pid, ledger);
  } catch (const std::bad_alloc&) {  // for the look, not for the books
    next_ns_ = UINT64_MAX;
    earliest_ns_ = UINT64_MAX;
  }
}

std::optional<UntouchedWatch::Found> UntouchedWatch::at_end() const {
  if (!found_ || touched_bytes_ > found_->untouched_bytes() / 4) return std::nullopt;
  return found_;
}

}  // namespace heapprof::cli
