// cli/collect/books/ledger_blocks.h: how a block is opened and closed in the books, inlined into the files of the
// ledger.
#pragma once

#include "cli/base/saturating.h"
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

[[gnu::always_inline]] inline void Ledger::count_begin(const Event& event, Amount amount) {
  if (rate_of(event.size_bytes) != 0) [[unlikely]] {
    ++counts_.chosen;
    counts_.chosen_for = {counts_.chosen_for.bytes + amount.bytes, counts_.chosen_for.blocks + amount.blocks};
  }
  counts_.allocations += amount.blocks;
  ThreadSlot& thread = threads_[event.thread()];
  thread.allocations += amount.blocks;
  add_to(&thread.total_bytes, amount.bytes);
}

[[gnu::always_inline]] inline void Ledger::open_block(LiveHeap::Entry* entry, const Event& event) {
  *entry = {event.size_bytes, now_ticks_, event.site, event.thread()};
  const uint64_t size_bytes = size_of(event.size_bytes);
  const Amount amount = amount_of(entry->block(event.address));
  sites_.add(event.site, size_bytes, amount);
  count_begin(event, amount);
  ThreadSlot& thread = threads_[event.thread()];
  thread.last_address = event.address;
  if (thread.scopes != 0) [[unlikely]]
    scopes_.allocate(thread.scopes, amount);
  if (largest_.is_large(size_bytes)) [[unlikely]]
    largest_.note(event.address, size_bytes, &heap_);
}

// Books the end of a block. The caller removes it from the heap.
[[gnu::always_inline]] inline void Ledger::close_block(const Block& block, uint64_t last_key, bool may_be_temporary) {
  ThreadSlot& thread = threads_[block.thread];
  const bool is_last = thread.last_address == last_key;
  const Amount amount = amount_of(block);
  // For a chosen block it is not known whether anything was allocated between its begin and its end.
  const bool is_temporary = is_last && may_be_temporary && block.rate == 0;
  sites_.remove(block.site, amount, now_ticks_ - block.birth, is_temporary);
  stays_.end(block.site, {block.birth, now_ticks_}, amount.bytes, amount.blocks);
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
