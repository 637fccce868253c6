// cli/collect/books/ledger.cc: see ledger.h.
//
// realloc is two records, because another thread may own the old address before the call has returned. The begin
// unlinks the block but leaves it in every sum; the end moves the sums from the old to the new block at one moment.
// Deducting at the begin would understate a peak that another thread reaches in between.
#include "cli/collect/books/ledger.h"

#include "cli/collect/books/ledger_blocks.h"

#include <algorithm>
#include <array>

namespace heapprof::cli {

namespace {

constexpr size_t kBatch = 256;
// How many events ahead each step of a batch runs.
constexpr size_t kIndexAhead = 24;
constexpr size_t kEntryAhead = 12;
constexpr size_t kSiteAhead = 6;

Event as_kind(Event event, EventKind kind) {
  event.thread_and_kind = pack_thread(event.thread(), kind);
  return event;
}

}  // namespace

void Ledger::prefetch_site(const Event& event) const {
  if (is_of_object(event)) return;  // the object is in other books
  if (event.site != 0) sites_.prefetch(event.site);
  if (event.address == 0) return;
  if (const LiveHeap::Entry* entry = heap_.peek(heap_.page_of(event.address), event.address))
    sites_.prefetch(entry->site);
}

[[gnu::always_inline]] inline void Ledger::on_malloc(const Event& event, uint32_t ring, const LiveHeap::Page* guess) {
  if (has_paused_) [[unlikely]] {
    if (threads_[event.thread()].pauses != 0) return on_malloc_in_pause(event, ring);
    if (is_left_out(event.address) && repairs()) return static_cast<void>(defer(event, ring));
    left_out_.erase(event.address);  // if a block is there, its end was not recorded
  }
  sites_.make_room();
  bool is_new = false;
  LiveHeap::Entry* entry = heap_.insert(guess, event.address, &is_new);
  if (!is_new) [[unlikely]] {
    if (!passed_.empty() && book_passed(event, ring)) return;
    if (repairs()) return static_cast<void>(defer(event, ring));
    close_unseen(entry->block(event.address));
  }
  open_block(entry, event);
  note_growth();
  if (!reorder_buffer_.empty()) [[unlikely]]
    settle_begun(event, ring);
}

[[gnu::always_inline]] inline void Ledger::on_free(const Event& event, uint32_t ring, const LiveHeap::Page* guess) {
  Block block;
  if (!heap_.take(guess, event.address, &block)) [[unlikely]] {
    if (free_left_out(event)) return;
    if (repairs()) defer(event, ring);
    count_free(event);
    if (!repairs()) count_foreign();
    return;
  }
  const Amount amount = amount_of(block);
  count_free(event, amount.blocks);
  close_block(block, block.address, true);
  free_in_scope(event.thread(), amount);
  note_change();
  if (!reorder_buffer_.empty()) [[unlikely]]
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

// Prefetches in stages, because each access depends on the previous one: the page, its index, the entry, the site.
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
      // An entry that is no longer this block's may name any site, or none.
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
    case EventKind::kObjectBegin:
    case EventKind::kObjectEnd: {
      const bool begins = event.kind() == EventKind::kObjectBegin;
      const auto operation = begins ? wire::DeviceOperation::kBeginInner : wire::DeviceOperation::kEndInner;
      return apply_inner({operation, wire::kPythonDevice, 0, event.address}, event);
    }
    case EventKind::kScope:
    case EventKind::kLaunch:
    case EventKind::kLaunches: return apply_scope(event);
    case EventKind::kName: return on_name(event, ring);
  }
}

void Ledger::apply_device(const Event& event) {
  const DeviceEvent device_event = device_events_.take(event.address);
  if (wire::is_about_inner(device_event.operation)) return apply_inner(device_event, event);
  const uint32_t stack = threads_[event.thread()].scopes;
  if (stack != 0) return apply_device_in_scope(device_event, event, stack);
  book_device(device_event, event);
}

void Ledger::book_device(const DeviceEvent& device_event, const Event& event) {
  devices_changed_ = true;
  if (MappingLedger::is_about(device_event.operation)) return mappings_.apply(device_event, event, now_ticks_);
  if (device_event.operation == wire::DeviceOperation::kRefuse && device_event.device == wire::kHostDevice)
    return refused_.note(device_event, event, sites_, now_ticks_);
  const ThreadSlot& thread = threads_[event.thread()];
  devices_.trace().set_now(thread.id, scopes_.path_of(thread.scopes));
  devices_.apply(device_event, event, thread.id, now_ticks_);
}

// There may be as many of these events as of the heap's. So their effect on a scope is returned, and not computed from
// the books.
void Ledger::apply_inner(const DeviceEvent& device_event, const Event& event) {
  devices_changed_ = true;
  const uint32_t stack = threads_[event.thread()].scopes;
  devices_.trace().set_now(threads_[event.thread()].id, scopes_.path_of(stack));
  const InnerChange change = devices_.apply_inner(device_event, event, now_ticks_);
  if (stack != 0 && (change.allocated.blocks != 0 || change.freed.blocks != 0))
    scopes_.change(stack, inner_number(device_event.device), change.allocated, change.freed);
}

// ---- realloc ----

std::vector<Ledger::BegunRealloc>& Ledger::begun_of(uint32_t ring) {
  if (ring >= begun_.size()) begun_.resize(ring + 1);
  return begun_[ring];
}

// Removes a block from the heap but not from the sums. Its thread may get the same address again before the realloc
// ends. So until then last_address of the thread names this block by a number that is no address.
void Ledger::unlink(const Block& block, BegunRealloc* begun) {
  begun->block = block;
  begun->state = BegunState::kKnown;
  begun->last_key = 1ull << 63 | ++begun_count_;
  ThreadSlot& thread = threads_[block.thread];
  if (thread.last_address == block.address) thread.last_address = begun->last_key;
  begun->name = names_by_address_.empty() ? 0 : take_name(block.address);
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
    relink(abandoned, ring);
  }
  BegunRealloc fresh{{event.address, 0, 0, 0, 0}, 0, 0, event.thread(), BegunState::kUnknown};
  Block block;
  if (heap_.take(event.address, &block)) {
    unlink(block, &fresh);
  } else if (take_left_out(event.address, &fresh.block)) {
    fresh.state = BegunState::kLeftOut;
  } else if (repairs()) {
    fresh.state = BegunState::kParked;
    fresh.deferred = defer(event, ring);
  }
  begun.push_back(fresh);
  const bool has_ended = fresh.state == BegunState::kKnown || fresh.state == BegunState::kLeftOut;
  if (has_ended && !reorder_buffer_.empty()) [[unlikely]]
    settle(event.address);
}

// Takes the last realloc that this thread began in this ring. False: there is none, because its begin was lost.
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
  if (threads_[event.thread()].pauses != 0) [[unlikely]]
    return on_realloc_end_in_pause(event, ring);
  sites_.make_room();
  begun_of(ring);
  const bool is_over_left_out = is_left_out(event.address);
  if (is_over_left_out && !repairs()) left_out_.erase(event.address);
  bool is_new = false;
  LiveHeap::Entry* entry = nullptr;
  if (!is_over_left_out || !repairs()) entry = heap_.insert(event.address, &is_new);  // from here on nothing fails
  const bool waits = !is_new && repairs();
  const bool has_passed = waits && !passed_.empty() && book_passed(event, ring);
  if (waits && !has_passed) defer(as_kind(event, EventKind::kMalloc), ring);
  BegunRealloc begun;
  bool is_known = false;
  const bool has_begun = take_begun(event.thread(), ring, &begun);
  counts_.reallocs += has_begun && has_block(begun) ? amount_of(begun.block).blocks : 1;
  if (has_begun && begun.state == BegunState::kLeftOut) {
    counts_.left_out_ended += amount_of(begun.block).blocks;
  } else if (!has_begun || begun.state == BegunState::kUnknown) {
    count_foreign();
  } else if (begun.state == BegunState::kKnown) {
    is_known = true;
    close_begun(begun, event.thread(), false);
  } else if (ParkedEvent* deferred = reorder_buffer_.find(begun.block.address, begun.deferred)) {
    deferred->after_realloc = true;
  }

  if (waits) {
    if (has_passed && begun.name != 0) ++counts_.unmatched_names;
    if (!has_passed && begun.name != 0) defer_name(event, begun.name, ring);
    return note_change();
  }
  if (!is_new) [[unlikely]]
    close_unseen(entry->block(event.address));
  open_block(entry, event);
  if (is_known) {
    const bool has_moved = begun.block.address != event.address;
    // For a sampled block it is unknown how many others were resized.
    if (rate_of(event.size_bytes) == 0)
      sites_.note_resize(event.site, has_moved ? std::min(begun.block.size_bytes, event.size_bytes) : 0);
    if (begun.name != 0) [[unlikely]]
      name_memory(event.address, begun.name);
  }
  note_growth();
  if (!reorder_buffer_.empty()) [[unlikely]]
    settle_begun(event, ring);
}

void Ledger::on_realloc_free(const Event& event, uint32_t ring) {
  BegunRealloc begun;
  const bool has_begun = take_begun(event.thread(), ring, &begun);
  count_free(event, has_begun && has_block(begun) ? amount_of(begun.block).blocks : 1);
  if (!has_begun || begun.state == BegunState::kUnknown) {
    count_foreign();
  } else if (begun.state == BegunState::kKnown) {
    close_begun(begun, event.thread(), true);
    note_change();
  } else if (begun.state == BegunState::kLeftOut) {
    counts_.left_out_ended += amount_of(begun.block).blocks;
  } else if (ParkedEvent* deferred = reorder_buffer_.find(begun.block.address, begun.deferred)) {
    deferred->event = as_kind(deferred->event, EventKind::kFree);
  }
}

void Ledger::on_realloc_cancel(const Event& event, uint32_t ring) {
  ++counts_.failed_reallocs;
  BegunRealloc begun;
  if (take_begun(event.thread(), ring, &begun)) relink(begun, ring);
}

// Undoes the begin of a realloc that failed: its block lives on.
void Ledger::relink(const BegunRealloc& begun, uint32_t ring) {
  if (begun.state == BegunState::kParked) reorder_buffer_.remove(begun.block.address, begun.deferred);
  if (begun.state == BegunState::kLeftOut) relink_left_out(begun);
  if (begun.state != BegunState::kKnown) return;
  bool is_new = false;
  LiveHeap::Entry* entry = nullptr;
  try {
    entry = heap_.insert(begun.block.address, &is_new);
  } catch (const std::bad_alloc&) {  // without memory the block cannot be kept; the sums are still exact
  }
  if (is_new) {
    *entry = {begun.block.size_word(), begun.block.birth, begun.block.site, begun.block.thread};
    ThreadSlot& thread = threads_[entry->thread];
    if (thread.last_address == begun.last_key) thread.last_address = begun.block.address;
    if (begun.name != 0) relink_name(begun);
    if (largest_.is_large(entry->size_bytes())) largest_.note(begun.block.address, entry->size_bytes(), &heap_);
    if (!reorder_buffer_.empty()) [[unlikely]]
      settle(begun.block.address);
  } else {  // another block has this address, so this one ended after all; or there is no memory for it
    const ParkedEvent* const end = find_passed(begun.block.address, ring, clock_);
    if (end != nullptr) {
      count_others(*end, begun.block);
      if (end->scope_path != 0) scopes_.free_by_path(end->scope_path, amount_of(begun.block));
      ++counts_.reordered;
      passed_.take_first(begun.block.address);
    } else {
      counts_.unseen_frees += amount_of(begun.block).blocks;
    }
    close_block(begun.block, begun.last_key, false);
    if (begun.name != 0) remove_name(begun.name, begun.block);
    note_change();
  }
}

}  // namespace heapprof::cli
