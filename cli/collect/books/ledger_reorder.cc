// cli/collect/books/ledger_reorder.cc: the part of the ledger for events that came too early. The alternation of begin
// and end at one address shows which ones did (README.md, "An inverted stamp"). They wait until they can be booked, or
// are given up.
#include "cli/arch/arch.h"
#include "cli/base/saturating.h"
#include "cli/collect/books/ledger_blocks.h"

#include <algorithm>
#include <utility>

namespace heapprof::cli {

namespace {

Event of_thread(Event event, uint32_t thread) {
  event.thread_and_kind = pack_thread(thread, event.kind());
  return event;
}

}  // namespace

// The block's address begins again, so its end was not recorded.
void Ledger::close_unseen(const Block& block) {
  counts_.unseen_frees += amount_of(block).blocks;
  close_block(block, block.address, false);
}

uint64_t Ledger::defer(const Event& event, uint32_t ring) {
  const ThreadSlot& thread = threads_[event.thread()];
  const uint64_t id = reorder_buffer_.defer(clock_, event, ring, scopes_.path_of(thread.scopes), thread.pauses != 0);
  next_expiry_ = std::min(next_expiry_, add_saturating(reorder_buffer_.oldest_stamp(), repair_window_));
  return id;
}

// Books the events that waited for this begin. An end that certainly came before the begin did not wait for it. If
// stamps can be inverted, the begin that such an end needs may still come after this one (book_passed); otherwise the
// end is given up.
void Ledger::settle_begun(const Event& begin, uint32_t ring) {
  while (const ParkedEvent* first = reorder_buffer_.first(begin.address)) {
    if (!first->is_end_before(begin, ring, inherits_)) break;
    const ParkedEvent end = reorder_buffer_.take_first(begin.address);
    const bool is_over = end.event.kind() == EventKind::kFree || end.after_realloc;  // else its realloc goes on
    if (inherits_ || !is_over) {
      give_up(end);
    } else {
      passed_.defer(clock_, end);
      next_expiry_ = std::min(next_expiry_, add_saturating(passed_.oldest_stamp(), repair_window_));
    }
  }
  settle(begin.address);
}

// The end in passed_ that may be the end of the block that `ring` has at the address at `stamp`. Another ring, whose
// core was ahead, recorded this end before its own begin of the address. nullptr: there is no such end.
const ParkedEvent* Ledger::find_passed(uint64_t address, uint32_t ring, uint64_t stamp) {
  const ParkedEvent* const end = passed_.first(address);
  const bool is_its = end != nullptr && end->ring != ring && stamp - end->event.stamp <= most_ticks_ahead();
  return is_its ? end : nullptr;
}

// Books the begin of a live address if its end is in passed_: this block has begun and ended by now. False: there is no
// such end.
bool Ledger::book_passed(const Event& begin, uint32_t ring) {
  const ParkedEvent* const end = find_passed(begin.address, ring, begin.stamp);
  if (end == nullptr) return false;
  const LiveHeap::Entry* const live = heap_.find(begin.address);
  if (live == nullptr) return false;  // the live block was left out
  const Block block{begin.address,  size_of(begin.size_bytes), now_ticks_, begin.site,
                    begin.thread(), rate_of(begin.size_bytes)};
  const Amount amount = amount_of(block);
  // The two blocks were not live at once: if they are of one site, they count as one in its maximum.
  const bool is_of_one_site = live->site == begin.site;
  const bool is_temporary = end->event.kind() == EventKind::kFree && block.rate == 0;
  if (is_of_one_site) sites_.remove(begin.site, amount, 0, is_temporary);
  sites_.add(begin.site, block.size_bytes, amount);
  if (!is_of_one_site) sites_.remove(begin.site, amount, 0, is_temporary);
  stays_.end(begin.site, {now_ticks_, now_ticks_}, amount.bytes, amount.blocks);
  count_begin(begin, amount);
  count_others(*end, block);
  ++counts_.reordered;
  ThreadSlot& thread = threads_[begin.thread()];
  thread.last_address = 0;
  if (thread.scopes != 0) scopes_.allocate(thread.scopes, amount);
  if (end->scope_path != 0) scopes_.free_by_path(end->scope_path, amount);
  passed_.take_first(begin.address);
  return true;
}

void Ledger::settle(uint64_t address) {
  while (const ParkedEvent* first = reorder_buffer_.first(address)) {
    const bool needs_live = first->event.kind() != EventKind::kMalloc;
    if (needs_live != is_live(address)) return;
    perform(*first);
    ++counts_.reordered;
    reorder_buffer_.take_first(address);
  }
}

// The event in the form in which it can be booked now: its thread may have ended, and its slot may be another thread's.
Event Ledger::revive(const ParkedEvent& deferred) {
  const bool is_gone = threads_[deferred.event.thread()].open_streams == 0;
  return is_gone ? of_thread(deferred.event, 0) : deferred.event;
}

// The block counts in the scope in which the event came: its thread may be in another one by now.
void Ledger::open_deferred(LiveHeap::Entry* entry, const Event& event, uint32_t scope_path) {
  const uint32_t stack = std::exchange(threads_[event.thread()].scopes, 0);
  open_block(entry, event);
  threads_[event.thread()].scopes = stack;
  if (scope_path != 0) scopes_.allocate_by_path(scope_path, amount_of(entry->block(event.address)));
  note_growth();
}

// When the end came, it was counted for one block. If the block was sampled, it stands for others as well; their ends
// are counted here.
void Ledger::count_others(const ParkedEvent& deferred, const Block& block) {
  const uint64_t others = amount_of(block).blocks - 1;
  if (deferred.after_realloc) {
    counts_.reallocs += others;
  } else {
    counts_.frees += others;
    threads_[revive(deferred).thread()].frees += others;
  }
}

// pre: the address is live if the event is an end, and not live if it is a begin
void Ledger::perform(const ParkedEvent& deferred) {
  const Event event = revive(deferred);
  if (event.kind() == EventKind::kMalloc) {
    if (deferred.is_in_pause) return leave_out(event);
    sites_.make_room();
    bool is_new = false;
    return open_deferred(heap_.insert(event.address, &is_new), event, deferred.scope_path);
  }
  if (event.kind() == EventKind::kName) return name_memory(event.address, static_cast<uint32_t>(event.size_bytes));
  Block block;
  if (take_left_out(event.address, &block)) return perform_on_left_out(deferred, block);
  heap_.take(event.address, &block);
  if (event.kind() == EventKind::kReallocBegin && !deferred.after_realloc) {
    for (BegunRealloc& begun : begun_of(deferred.ring)) {
      if (begun.deferred != deferred.id) continue;
      begun.deferred = 0;
      unlink(block, &begun);
    }
    return;
  }
  // The realloc has returned, so it is no longer known which block continues this one.
  if (deferred.after_realloc && names_by_address_.count(block.address) != 0) ++counts_.unmatched_names;
  count_others(deferred, block);
  close_block(block, block.address, event.kind() == EventKind::kFree);
  if (deferred.scope_path != 0) scopes_.free_by_path(deferred.scope_path, amount_of(block));
  note_change();
}

// Books a deferred event that timed out: the event that it waited for was not recorded.
void Ledger::give_up(const ParkedEvent& deferred) {
  const Event event = revive(deferred);
  if (event.kind() == EventKind::kMalloc && deferred.is_in_pause) {
    give_up_in_pause(event);
  } else if (event.kind() == EventKind::kMalloc) {
    sites_.make_room();
    left_out_.erase(event.address);
    bool is_new = false;
    LiveHeap::Entry* entry = heap_.insert(event.address, &is_new);
    if (!is_new) close_unseen(entry->block(event.address));
    open_deferred(entry, event, deferred.scope_path);
  } else if (event.kind() == EventKind::kReallocBegin && !deferred.after_realloc) {
    for (BegunRealloc& begun : begun_of(deferred.ring)) {
      if (begun.deferred == deferred.id) begun.state = BegunState::kUnknown;
    }
  } else if (event.kind() == EventKind::kName) {
    ++counts_.unmatched_names;
  } else {
    count_foreign();
  }
}

void Ledger::expire(uint64_t latest_stamp) {
  while (const uint64_t address = reorder_buffer_.overdue(latest_stamp)) {
    give_up(*reorder_buffer_.first(address));
    reorder_buffer_.take_first(address);
    settle(address);
  }
  while (const uint64_t address = passed_.overdue(latest_stamp)) {
    give_up(*passed_.first(address));
    passed_.take_first(address);
  }
  const uint64_t oldest_stamp = std::min(reorder_buffer_.oldest_stamp(), passed_.oldest_stamp());
  next_expiry_ = oldest_stamp == UINT64_MAX ? UINT64_MAX : add_saturating(oldest_stamp, repair_window_);
}

}  // namespace heapprof::cli
