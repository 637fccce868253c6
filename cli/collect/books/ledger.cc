// cli/collect/books/ledger.cc: see ledger.h.
//
// realloc is two records, because another thread may own the old address before the call has returned. The begin
// unlinks the block but leaves it in every sum; the end moves the sums from the old to the new block at one moment.
// Deducting at the begin would understate a peak that another thread reaches in between.
#include "cli/collect/books/ledger.h"

#include <algorithm>
#include <array>

namespace heapprof::cli {

namespace {

constexpr size_t kBatch = 256;
// How many events ahead each step of a batch is done.
constexpr size_t kIndexAhead = 24;
constexpr size_t kEntryAhead = 12;
constexpr size_t kSiteAhead = 6;

constexpr uint64_t add_saturating(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

Event of_thread(Event event, uint32_t thread) {
  event.thread_and_kind = pack_thread(thread, event.kind());
  return event;
}

Event as_kind(Event event, EventKind kind) {
  event.thread_and_kind = pack_thread(event.thread(), kind);
  return event;
}

}  // namespace

void Ledger::prefetch_site(const Event& event) const {
  if (event.site != 0) sites_.prefetch(event.site);
  if (event.address == 0) return;
  if (const LiveHeap::Entry* entry = heap_.peek(heap_.page_of(event.address), event.address))
    sites_.prefetch(entry->site);
}

[[gnu::always_inline]] inline void Ledger::advance_clock(uint64_t stamp) {
  if (stamp <= clock_) return;
  clock_ = stamp;
  if (time_source_ == TimeSource::kStamps) now_ticks_ = std::max(now_ticks_, stamp);
  if (clock_ > next_expiry_) [[unlikely]]
    expire(clock_ - repair_window_ - 1);
}

// ---- Blocks ----

[[gnu::always_inline]] inline void Ledger::open_block(LiveHeap::Entry* entry, const Event& event) {
  *entry = {event.size_bytes, now_ticks_, event.site, event.thread()};
  sites_.add(event.site, event.size_bytes);
  ++counts_.allocations;
  ThreadSlot& thread = threads_[event.thread()];
  ++thread.allocations;
  thread.total_bytes += event.size_bytes;
  thread.last_address = event.address;
}

// Books the end of a block. The caller takes it out of the heap.
[[gnu::always_inline]] inline void Ledger::close_block(const Block& block, uint64_t last_key, bool may_be_temporary) {
  ThreadSlot& thread = threads_[block.thread];
  const bool is_last = thread.last_address == last_key;
  sites_.remove(block.site, block.size_bytes, now_ticks_ - block.birth, is_last && may_be_temporary);
  if (!is_last) return;
  thread.last_address = 0;
  if (thread.has_ended != 0) threads_.release(block.thread);
}

// The block's address begins again, so the block must have ended without our seeing it.
void Ledger::close_unseen(const Block& block) {
  ++counts_.unseen_frees;
  close_block(block, block.address, false);
}

[[gnu::always_inline]] inline void Ledger::note_growth() {
  sites_.check_peak(now_ticks_);
  note_change();
}
[[gnu::always_inline]] inline void Ledger::note_change() { timeline_.record(now_ticks_, sites_.totals().live.bytes); }

[[gnu::always_inline]] inline void Ledger::on_malloc(const Event& event, uint32_t ring, const LiveHeap::Page* guess) {
  sites_.make_room();
  bool is_new = false;
  LiveHeap::Entry* entry = heap_.insert(guess, event.address, &is_new);
  if (!is_new) [[unlikely]] {
    if (repairs()) return static_cast<void>(park(event, ring));
    close_unseen(entry->block(event.address));
  }
  open_block(entry, event);
  note_growth();
  if (!parking_.empty()) [[unlikely]]
    settle_begun(event, ring);
}

[[gnu::always_inline]] inline void Ledger::on_free(const Event& event, uint32_t ring, const LiveHeap::Page* guess) {
  Block block;
  if (!heap_.take(guess, event.address, &block)) [[unlikely]] {
    if (repairs()) park(event, ring);
    count_free(event);
    if (!repairs()) count_foreign();
    return;
  }
  count_free(event);
  close_block(block, block.address, true);
  note_change();
  if (!parking_.empty()) [[unlikely]]
    settle(event.address);
}

[[gnu::always_inline]] inline void Ledger::apply_inline(const Event& event, uint32_t ring,
                                                        const LiveHeap::Page* guess) {
  advance_clock(event.stamp);
  if (event.kind() == EventKind::kFree) return on_free(event, ring, guess);
  if (event.kind() == EventKind::kMalloc) return on_malloc(event, ring, guess);
  apply_other(event, ring);
}

void Ledger::apply(std::span<const Event> events, uint32_t ring) {
  if (heap_.is_large()) {
    for (; !events.empty(); events = events.subspan(std::min(kBatch, events.size())))
      apply_staged(events.first(std::min(kBatch, events.size())), ring);
  } else if (sites_.is_large()) {
    for (size_t i = 0; i < events.size(); ++i) {
      if (i + kSiteAhead < events.size()) prefetch_site(events[i + kSiteAhead]);
      apply_inline(events[i], ring, nullptr);
    }
  } else {
    for (const Event& event : events) apply_inline(event, ring, nullptr);
  }
}

// In stages, as each access depends on the one before: the page, its index, the entry, the site.
void Ledger::apply_staged(std::span<const Event> events, uint32_t ring) {
  const size_t count = events.size();
  std::array<const LiveHeap::Page*, kBatch> pages;
  std::array<const LiveHeap::Entry*, kBatch> entries;
  const auto look_up_page = [&](size_t i) {
    pages[i] = heap_.page_of(events[i].address);
    heap_.prefetch_index(pages[i], events[i].address);
  };
  const auto look_up_entry = [&](size_t i) {
    entries[i] = heap_.peek(pages[i], events[i].address);
    if (entries[i] != nullptr) prefetch_line(entries[i]);
  };
  for (size_t i = 0; i < std::min(count, kIndexAhead); ++i) look_up_page(i);
  for (size_t i = 0; i < std::min(count, kEntryAhead); ++i) look_up_entry(i);
  for (size_t i = 0; i < count; ++i) {
    if (i + kIndexAhead < count) look_up_page(i + kIndexAhead);
    if (i + kEntryAhead < count) look_up_entry(i + kEntryAhead);
    if (const size_t ahead = i + kSiteAhead; ahead < count) {
      // An entry that is no longer this block's names any site, or none.
      const uint32_t site = entries[ahead] != nullptr ? entries[ahead]->site : events[ahead].site;
      if (site < sites_.size()) sites_.prefetch(site);
    }
    apply_inline(events[i], ring, pages[i]);
  }
}

void Ledger::apply(const Event& event, uint32_t ring) { apply_inline(event, ring, nullptr); }

void Ledger::apply_other(const Event& event, uint32_t ring) {
  switch (event.kind()) {
    case EventKind::kMalloc:
    case EventKind::kFree: return;  // above
    case EventKind::kReallocBegin: return on_realloc_begin(event, ring);
    case EventKind::kReallocEnd: return on_realloc_end(event, ring);
    case EventKind::kReallocCancel: return on_realloc_cancel(event, ring);
    case EventKind::kReallocFree: return on_realloc_free(event, ring);
    case EventKind::kThreadLeft: return on_thread_left(event, ring);
    case EventKind::kDevice: return apply_device(event);
  }
}

void Ledger::apply_device(const Event& event) {
  const DeviceEvent device_event = device_events_.take(event.address);
  if (MappingLedger::is_about(device_event.operation)) return mappings_.apply(device_event, event, now_ticks_);
  if (device_event.operation == wire::DeviceOperation::kRefuse && device_event.device == wire::kHostDevice)
    return refused_.note(device_event, event, sites_, now_ticks_);
  devices_.apply(device_event, event, threads_[event.thread()].id, now_ticks_);
}

// ---- realloc ----

std::vector<Ledger::BegunRealloc>& Ledger::begun_of(uint32_t ring) {
  if (ring >= begun_.size()) begun_.resize(ring + 1);
  return begun_[ring];
}

// Takes a block out of the heap but not out of the sums. Its thread may get the same address again before the realloc
// ends: as the thread's latest block it goes by another key meanwhile, one that is no address.
void Ledger::unlink(const Block& block, BegunRealloc* begun) {
  begun->block = block;
  begun->state = BegunState::kKnown;
  begun->last_key = 1ull << 63 | ++begun_count_;
  ThreadSlot& thread = threads_[block.thread];
  if (thread.last_address == block.address) thread.last_address = begun->last_key;
  ++begun_blocks_;
}

void Ledger::on_realloc_begin(const Event& event, uint32_t ring) {
  std::vector<BegunRealloc>& begun = begun_of(ring);
  if (begun.size() == begun.capacity()) begun.reserve(std::max<size_t>(4, 2 * begun.size()));
  const auto is_same = [&event](const BegunRealloc& other) { return other.thread == event.thread(); };
  if (static_cast<size_t>(std::count_if(begun.begin(), begun.end(), is_same)) >= kMaxNestedReallocs) {
    const auto oldest = std::find_if(begun.begin(), begun.end(), is_same);
    const BegunRealloc abandoned = *oldest;
    begun.erase(oldest);
    relink(abandoned);
  }
  BegunRealloc fresh{{event.address, 0, 0, 0, 0}, 0, 0, event.thread(), BegunState::kUnknown};
  Block block;
  if (heap_.take(event.address, &block)) {
    unlink(block, &fresh);
  } else if (repairs()) {
    fresh.state = BegunState::kParked;
    fresh.parked = park(event, ring);
  }
  begun.push_back(fresh);
  if (fresh.state == BegunState::kKnown && !parking_.empty()) [[unlikely]]
    settle(event.address);
}

// Takes the last realloc that this thread began in this ring. False: there is none, as its begin was lost.
bool Ledger::take_begun(uint32_t thread, uint32_t ring, BegunRealloc* taken) {
  std::vector<BegunRealloc>& begun = begun_of(ring);
  for (size_t i = begun.size(); i-- != 0;) {
    if (begun[i].thread != thread) continue;
    *taken = begun[i];
    begun.erase(begun.begin() + static_cast<std::ptrdiff_t>(i));
    if (taken->state == BegunState::kKnown) --begun_blocks_;
    return true;
  }
  return false;
}

void Ledger::on_realloc_end(const Event& event, uint32_t ring) {
  sites_.make_room();
  begun_of(ring);
  bool is_new = false;
  LiveHeap::Entry* entry = heap_.insert(event.address, &is_new);  // from here on nothing fails
  const bool waits = !is_new && repairs();
  if (waits) park(as_kind(event, EventKind::kMalloc), ring);
  ++counts_.reallocs;
  BegunRealloc begun;
  bool is_known = false;
  if (!take_begun(event.thread(), ring, &begun) || begun.state == BegunState::kUnknown) {
    count_foreign();
  } else if (begun.state == BegunState::kKnown) {
    is_known = true;
    close_begun(begun, false);
  } else if (ParkedEvent* parked = parking_.find(begun.block.address, begun.parked)) {
    parked->after_realloc = true;
  }

  if (waits) return note_change();
  if (!is_new) [[unlikely]]
    close_unseen(entry->block(event.address));
  open_block(entry, event);
  if (is_known) {
    const bool has_moved = begun.block.address != event.address;
    sites_.note_resize(event.site, has_moved ? std::min(begun.block.size_bytes, event.size_bytes) : 0);
  }
  note_growth();
  if (!parking_.empty()) [[unlikely]]
    settle_begun(event, ring);
}

void Ledger::on_realloc_free(const Event& event, uint32_t ring) {
  count_free(event);
  BegunRealloc begun;
  if (!take_begun(event.thread(), ring, &begun) || begun.state == BegunState::kUnknown) {
    count_foreign();
  } else if (begun.state == BegunState::kKnown) {
    close_begun(begun, true);
    note_change();
  } else if (ParkedEvent* parked = parking_.find(begun.block.address, begun.parked)) {
    parked->event = as_kind(parked->event, EventKind::kFree);
  }
}

void Ledger::on_realloc_cancel(const Event& event, uint32_t ring) {
  ++counts_.failed_reallocs;
  BegunRealloc begun;
  if (take_begun(event.thread(), ring, &begun)) relink(begun);
}

// Books that a realloc has not happened: its block lives on.
void Ledger::relink(const BegunRealloc& begun) {
  if (begun.state == BegunState::kParked) parking_.remove(begun.block.address, begun.parked);
  if (begun.state != BegunState::kKnown) return;
  bool is_new = false;
  LiveHeap::Entry* entry = nullptr;
  try {
    entry = heap_.insert(begun.block.address, &is_new);
  } catch (const std::bad_alloc&) {  // at the end of memory it cannot live on: the sums are true all the same
  }
  if (is_new) {
    *entry = {begun.block.size_bytes, begun.block.birth, begun.block.site, begun.block.thread};
    ThreadSlot& thread = threads_[entry->thread];
    if (thread.last_address == begun.last_key) thread.last_address = begun.block.address;
    if (!parking_.empty()) [[unlikely]]
      settle(begun.block.address);
  } else {  // somebody has this address, so the block ended after all; or there is no room for it
    ++counts_.unseen_frees;
    close_begun(begun, false);
    note_change();
  }
}

// ---- Alternation ----

uint64_t Ledger::park(const Event& event, uint32_t ring) {
  const uint64_t id = parking_.park(clock_, event, ring);
  next_expiry_ = add_saturating(parking_.oldest_stamp(), repair_window_);
  return id;
}

// Books what waited for this begin; an end that surely came before it did not, and is given up.
void Ledger::settle_begun(const Event& begin, uint32_t ring) {
  while (const ParkedEvent* first = parking_.first(begin.address)) {
    if (!first->is_end_before(begin, ring, inherits_)) break;
    give_up(*first);
    parking_.take_first(begin.address);
  }
  settle(begin.address);
}

void Ledger::settle(uint64_t address) {
  while (const ParkedEvent* first = parking_.first(address)) {
    const bool needs_live = first->event.kind() != EventKind::kMalloc;
    if (needs_live != (heap_.find(address) != nullptr)) return;
    perform(*first);
    ++counts_.reordered;
    parking_.take_first(address);
  }
}

// As it can be booked now: its thread may be gone, and its slot another's.
Event Ledger::revive(const ParkedEvent& parked) {
  const bool is_gone = threads_[parked.event.thread()].open_streams == 0;
  return is_gone ? of_thread(parked.event, 0) : parked.event;
}

// pre: the address is live if the event ends it, and not live if it begins it
void Ledger::perform(const ParkedEvent& parked) {
  const Event event = revive(parked);
  if (event.kind() == EventKind::kMalloc) {
    sites_.make_room();
    bool is_new = false;
    open_block(heap_.insert(event.address, &is_new), event);
    note_growth();
    return;
  }
  Block block;
  heap_.take(event.address, &block);
  if (event.kind() == EventKind::kReallocBegin && !parked.after_realloc) {
    for (BegunRealloc& begun : begun_of(parked.ring)) {
      if (begun.parked != parked.id) continue;
      begun.parked = 0;
      unlink(block, &begun);
    }
    return;
  }
  close_block(block, block.address, event.kind() == EventKind::kFree);
  note_change();
}

// Books a parked event whose time is over: what it waited for was not recorded.
void Ledger::give_up(const ParkedEvent& parked) {
  const Event event = revive(parked);
  if (event.kind() == EventKind::kMalloc) {
    sites_.make_room();
    bool is_new = false;
    LiveHeap::Entry* entry = heap_.insert(event.address, &is_new);
    if (!is_new) close_unseen(entry->block(event.address));
    open_block(entry, event);
    note_growth();
  } else if (event.kind() == EventKind::kReallocBegin && !parked.after_realloc) {
    for (BegunRealloc& begun : begun_of(parked.ring)) {
      if (begun.parked == parked.id) begun.state = BegunState::kUnknown;
    }
  } else {
    count_foreign();
  }
}

void Ledger::expire(uint64_t latest_stamp) {
  while (const uint64_t address = parking_.overdue(latest_stamp)) {
    give_up(*parking_.first(address));
    parking_.take_first(address);
    settle(address);
  }
  next_expiry_ = parking_.empty() ? UINT64_MAX : add_saturating(parking_.oldest_stamp(), repair_window_);
}

}  // namespace heapprof::cli
