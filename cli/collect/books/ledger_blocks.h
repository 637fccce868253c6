// cli/collect/books/ledger_blocks.h: how a block is opened and closed in the books, inlined into the files of the
// ledger.
#pragma once

#include "cli/collect/books/ledger.h"

#include <algorithm>

namespace heapprof::cli {

[[gnu::always_inline]] inline void Ledger::advance_clock(uint64_t stamp) {
  if (stamp <= clock_) return;
  clock_ = stamp;
  if (time_source_ == TimeSource::kStamps) now_ticks_ = std::max(now_ticks_, stamp);
  if (clock_ > next_expiry_) [[unlikely]]
    expire(clock_ - repair_window_ - 1);
}

[[gnu::always_inline]] inline void Ledger::open_block(LiveHeap::Entry* entry, const Event& event) {
  *entry = {event.size_bytes, now_ticks_, event.site, event.thread()};
  sites_.add(event.site, event.size_bytes);
  ++counts_.allocations;
  ThreadSlot& thread = threads_[event.thread()];
  ++thread.allocations;
  thread.total_bytes += event.size_bytes;
  thread.last_address = event.address;
  if (thread.scopes != 0) [[unlikely]]
    scopes_.allocate(thread.scopes, event.size_bytes);
  if (largest_.is_large(event.size_bytes)) [[unlikely]]
    largest_.note(event.address, event.size_bytes, &heap_);
}

// Books the end of a block. The caller takes it out of the heap.
[[gnu::always_inline]] inline void Ledger::close_block(const Block& block, uint64_t last_key, bool may_be_temporary) {
  ThreadSlot& thread = threads_[block.thread];
  const bool is_last = thread.last_address == last_key;
  sites_.remove(block.site, block.size_bytes, now_ticks_ - block.birth, is_last && may_be_temporary);
  stays_.end(block.site, {block.birth, now_ticks_}, block.size_bytes, 1);
  if (!names_by_address_.empty() && last_key == block.address) [[unlikely]]
    end_name(block);
  if (!is_last) return;
  thread.last_address = 0;
  if (thread.has_ended != 0) threads_.release(block.thread);
}

[[gnu::always_inline]] inline void Ledger::note_growth() {
  sites_.check_peak(now_ticks_);
  note_change();
}
[[gnu::always_inline]] inline void Ledger::note_change() { timeline_.record(now_ticks_, sites_.totals().live.bytes); }

}  // namespace heapprof::cli
