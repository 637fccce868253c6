// cli/collect/books/inner_blocks.cc: a resize unlinks its block and leaves it in every sum, as on the heap (ledger.cc).
// If the block were deducted at once, a peak that another thread reaches during the resize would be too small.
#include "cli/collect/books/inner_blocks.h"

#include <algorithm>
#include <new>
#include <utility>

namespace heapprof::cli {

using wire::DeviceOperation;

void InnerBlocks::close(const Block& block, bool is_temporary, InnerChange* change) {
  book_.sites.remove(block.site, block.size_bytes, now_ticks_ - block.birth, is_temporary);
  book_.stays.end(block.site, {block.birth, now_ticks_}, block.size_bytes, 1);
  change->freed.bytes += block.size_bytes;
  ++change->freed.blocks;
}

bool InnerBlocks::name(uint64_t address, uint32_t name) {
  const LiveHeap::Entry* const entry = blocks_.find(address);
  if (entry == nullptr) return false;
  const Block block = entry->block(address);
  const auto [at, is_new] = names_.try_emplace(address, 0);
  if (at->second == name) return true;
  try {
    book_.names.add(name, block.site, block.size_bytes);
  } catch (const std::bad_alloc&) {
    if (is_new) names_.erase(at);
    throw;
  }
  if (!is_new) book_.names.remove(at->second, block.site, block.size_bytes);
  at->second = name;
  return true;
}

void InnerBlocks::end_name(const Block& block) {
  const auto at = names_.find(block.address);
  if (at == names_.end()) return;
  book_.names.remove(at->second, block.site, block.size_bytes);
  names_.erase(at);
}

void InnerBlocks::begin(uint64_t address, const Event& event, InnerChange* change) {
  book_.sites.grow_to(event.site + 1);
  book_.sites.make_room();
  uint64_t& latest = latest_of(event.thread());
  bool is_new = false;
  LiveHeap::Entry* const entry = blocks_.insert(address, &is_new);
  if (!is_new) {  // its end was not recorded
    ++unmatched_;
    trace(TraceAction::kEnd, address, entry->size_bytes(), entry->site);
    end_name(entry->block(address));
    close(entry->block(address), false, change);
  }
  *entry = {event.size_bytes, now_ticks_, event.site, event.thread()};
  latest = address;
  trace(TraceAction::kBegin, address, event.size_bytes, event.site);
  book_.sites.add(event.site, event.size_bytes);
  change->allocated.bytes += event.size_bytes;
  ++change->allocated.blocks;
}

void InnerBlocks::end(uint64_t address, InnerChange* change) {
  Block block;
  if (!blocks_.take(address, &block)) {
    ++unmatched_;
    ++foreign_;
    return;
  }
  uint64_t& latest = latest_of(block.thread);
  const bool is_temporary = latest == address;
  if (is_temporary) latest = 0;
  trace(TraceAction::kEnd, address, block.size_bytes, block.site);
  end_name(block);
  close(block, is_temporary, change);
}

void InnerBlocks::move(uint64_t address, uint32_t thread) {
  keep(thread);  // undoes a resize that was never finished
  Begun begun{};
  begun.is_known = blocks_.take(address, &begun.block);
  if (begun.is_known) {
    end_name(begun.block);
    uint64_t& latest = latest_of(begun.block.thread);
    begun.is_latest = latest == address;
    if (begun.is_latest) latest = 0;
  } else {
    ++unmatched_;
    ++foreign_;
  }
  begun_.insert_or_assign(thread, begun);
}

void InnerBlocks::keep(uint32_t thread) {
  const auto at = begun_.find(thread);
  if (at == begun_.end()) return;
  const Begun begun = at->second;
  begun_.erase(at);
  if (!begun.is_known) return;
  bool is_new = false;
  LiveHeap::Entry* const entry = blocks_.insert(begun.block.address, &is_new);
  if (!is_new) {  // another block has the address by now
    InnerChange change;
    ++unmatched_;
    return close(begun.block, false, &change);
  }
  *entry = {begun.block.size_bytes, begun.block.birth, begun.block.site, begun.block.thread};
  if (begun.is_latest && latest_of(begun.block.thread) == 0) latest_of(begun.block.thread) = begun.block.address;
}

InnerChange InnerBlocks::apply(DeviceOperation operation, uint64_t address, const Event& event, uint64_t now_ticks) {
  now_ticks_ = std::max(now_ticks_, now_ticks);
  InnerChange change;
  switch (operation) {
    case DeviceOperation::kBeginInner: begin(address, event, &change); break;
    case DeviceOperation::kEndInner: end(address, &change); break;
    case DeviceOperation::kMoveInner: move(address, event.thread()); break;
    case DeviceOperation::kKeepInner: keep(event.thread()); break;
    case DeviceOperation::kResizeInner: {
      if (const auto moved = begun_.find(event.thread()); moved != begun_.end() && moved->second.is_known) {
        const Block& old = moved->second.block;
        trace(TraceAction::kEnd, old.address, old.size_bytes, old.site);
      }
      begin(address, event, &change);
      const auto at = begun_.find(event.thread());
      if (at == begun_.end()) break;
      if (at->second.is_known) {
        const Block& old = at->second.block;
        close(old, false, &change);  // as on the heap: not temporary
        book_.sites.note_resize(event.site, old.address == address ? 0 : std::min(old.size_bytes, event.size_bytes));
      }
      begun_.erase(at);
      break;
    }
    default: return change;
  }
  book_.sites.check_peak(now_ticks_);
  book_.timeline.record(now_ticks_, book_.sites.totals().live.bytes);
  return change;
}

void InnerBlocks::forget_thread(uint32_t thread) {
  keep(thread);
  if (thread < latest_.size()) latest_[thread] = 0;
}

void InnerBlocks::finish(uint64_t end_ticks) {
  now_ticks_ = std::max(now_ticks_, end_ticks);
  for_each_live([this](const Block& block) {
    book_.sites.add_final_lifetime(block.site, now_ticks_ - block.birth);
    book_.stays.leave(block.site, block.birth, block.size_bytes);
  });
}

}  // namespace heapprof::cli
