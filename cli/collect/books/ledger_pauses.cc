// cli/collect/books/ledger_pauses.cc: the part of the ledger for blocks of paused threads: they are left out of every
// sum, but are counted.
//
// The agent records them like any others. So their ends find them, from any thread at any time, and the alternation of
// begin and end at an address separates them from earlier and later blocks. They are in a separate table, which is read
// if the heap has no block at an address, and only while it is not empty.
#include "cli/collect/books/ledger_blocks.h"

#include <new>

namespace heapprof::cli {

// If the address already has a block that was left out, its end was not recorded, or is still to come.
void Ledger::leave_out(const Event& event) {
  left_out_.insert_or_assign(event.address, event.size_bytes);
  const Amount amount = amount_of(left_out_block(event.address, event.size_bytes));
  counts_.left_out = {counts_.left_out.bytes + amount.bytes, counts_.left_out.blocks + amount.blocks};
}

bool Ledger::take_left_out(uint64_t address, Block* block) {
  if (left_out_.empty()) return false;
  const auto at = left_out_.find(address);
  if (at == left_out_.end()) return false;
  *block = left_out_block(address, at->second);
  left_out_.erase(at);
  return true;
}

// False: it is not the end of such a block.
bool Ledger::free_left_out(const Event& event) {
  Block block;
  if (!take_left_out(event.address, &block)) return false;
  const uint64_t blocks = amount_of(block).blocks;
  count_free(event, blocks);
  counts_.left_out_ended += blocks;
  if (!reorder_buffer_.empty()) settle(event.address);
  return true;
}

void Ledger::on_malloc_in_pause(const Event& event, uint32_t ring) {
  if (repairs() && is_live(event.address)) return static_cast<void>(defer(event, ring));
  give_up_in_pause(event);
  if (!reorder_buffer_.empty()) [[unlikely]]
    settle_begun(event, ring);
}

// Leaves out the block, and closes a block that is still at that address: its end was not recorded.
void Ledger::give_up_in_pause(const Event& event) {
  leave_out(event);
  Block block;
  if (!heap_.take(event.address, &block)) return;
  close_unseen(block);
  note_change();
}

// A realloc in a pause is the end of one block, and the begin of one that is left out.
void Ledger::on_realloc_end_in_pause(const Event& event, uint32_t ring) {
  begun_of(ring);
  Event begin = event;
  begin.thread_and_kind = pack_thread(event.thread(), EventKind::kMalloc);
  on_malloc_in_pause(begin, ring);
  BegunRealloc begun;
  if (!take_begun(event.thread(), ring, &begun) || begun.state == BegunState::kUnknown) return;
  count_free(event, amount_of(begun.block).blocks);
  if (begun.state == BegunState::kKnown) {
    close_begun(begun, event.thread(), false);
    note_change();
  } else if (begun.state == BegunState::kLeftOut) {
    counts_.left_out_ended += amount_of(begun.block).blocks;
  } else if (ParkedEvent* deferred = reorder_buffer_.find(begun.block.address, begun.deferred)) {
    deferred->event.thread_and_kind = pack_thread(deferred->event.thread(), EventKind::kFree);
  }
}

// Books an end that came before its begin, which was in a pause.
void Ledger::perform_on_left_out(const ParkedEvent& deferred, const Block& block) {
  if (deferred.event.kind() == EventKind::kFree || deferred.after_realloc) {
    counts_.left_out_ended += amount_of(block).blocks;
    count_others(deferred, block);
    return;
  }
  for (BegunRealloc& begun : begun_of(deferred.ring)) {
    if (begun.deferred != deferred.id) continue;
    begun.deferred = 0;
    begun.state = BegunState::kLeftOut;
    begun.block = block;
  }
}

// A realloc has failed, and its block lives on.
void Ledger::relink_left_out(const BegunRealloc& begun) {
  if (is_live(begun.block.address)) return;  // it has ended after all
  try {
    left_out_.emplace(begun.block.address, begun.block.size_word());
  } catch (const std::bad_alloc&) {  // out of memory: it is in no sum
    return;
  }
  if (!reorder_buffer_.empty()) settle(begun.block.address);
}

}  // namespace heapprof::cli
