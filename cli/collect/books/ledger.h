// cli/collect/books/ledger.h: the books of one process: every block, every site, the totals and the peak. Stage two of
// two.
//
// It takes events in the order of their stamps (cli/collect/README.md) and repairs the order of the few with inverted
// stamps.
//
// Guarantees
//  - Totals, live blocks and the sites' sums are exact. The peak is exact for one order of events that agrees with the
//    order of every thread and the history of every address.
//  - Every event is counted once: as an allocation, a free, a realloc or a failed realloc. Those without a block also
//    count as foreign; a block whose end was not recorded also counts as unseen.
//  - If there is no memory for an event, it throws std::bad_alloc and has changed nothing: the books are then exact up
//    to it, and stop_growing() and finish() may follow.
// Context:  one thread.
// Cost:     10-20 ns an event (tests/bench/collect.cc).
#pragma once

#include "cli/collect/books/device_ledger.h"
#include "cli/collect/books/gpu_time_book.h"
#include "cli/collect/books/largest_blocks.h"
#include "cli/collect/books/launch_book.h"
#include "cli/collect/books/live_heap.h"
#include "cli/collect/books/mapping_ledger.h"
#include "cli/collect/books/name_book.h"
#include "cli/collect/books/reorder_buffer.h"
#include "cli/collect/books/sample_weight.h"
#include "cli/collect/books/scope_book.h"
#include "cli/collect/books/site_book.h"
#include "cli/collect/books/snapshot_book.h"
#include "cli/collect/books/stay_book.h"
#include "cli/collect/books/timeline.h"
#include "cli/collect/rings/event.h"
#include "cli/collect/rings/sample_rates.h"
#include "cli/collect/rings/thread_table.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {

// The part of Counters (cli/model/profile/run.h) that is counted here.
struct LedgerCounts {
  uint64_t allocations = 0;
  uint64_t frees = 0;  // including realloc(p, 0), and the foreign ones
  uint64_t reallocs = 0;
  uint64_t failed_reallocs = 0;
  uint64_t reordered = 0;
  uint64_t foreign = 0;  // frees and reallocs of addresses never seen
  uint64_t unseen_frees = 0;
  Amount left_out{};             // blocks of a thread that paused, which are in no other sum
  uint64_t left_out_ended = 0;   // how many of them have ended; the ends are among the frees and the reallocs
  uint64_t chosen = 0;           // sampled blocks
  Amount chosen_for{};           // their weight, which the other numbers include
  uint64_t unmatched_names = 0;  // names of memory that was not live, or for which there was no room
};

class Ledger {
 public:
  // Where the time of an event comes from.
  enum class TimeSource { kStamps, kDrains };

  Ledger(ThreadTable* threads, TimeSource time_source) : threads_(*threads), time_source_(time_source) {
    stays_.set_bounds(&bounds_);
    devices_.set_bounds(&bounds_);
    mappings_.set_bounds(&bounds_);
  }

  void start(uint64_t ticks);
  // With kDrains: the time of the next events.
  void set_drain_ticks(uint64_t ticks);
  // Call it between two rounds, with the time. If a bound for stays is due, it is set after the latest event. So if the
  // program pauses, there are bounds at the begin and at the end of the pause.
  void set_bound(uint64_t ticks) {
    if (bounds_.is_due(ticks) && now_ticks_ > bounds_.open_ticks()) now_ticks_ = bounds_.add(now_ticks_);
  }
  // Events of one address within this many stamps may be in the wrong order. 0, the default: they never are.
  void set_repair_window(uint64_t stamps) { repair_window_ = stamps; }
  // The process is a forked child, which frees blocks of its parent whose begin was not recorded. Its stamps are never
  // inverted (cli/collect/README.md), so an end that is older than a begin of its address ends such a block.
  void set_inherits() {
    inherits_ = true;
    devices_.set_inherits();
  }
  // Blocks may be sampled at these rates. From now on an end without a known begin means nothing.
  void set_sampled(const SampleRates* rates) {
    rates_ = rates;
    inherits_ = true;
  }
  // The callback gets the name's number at each mark, in the thread that applies the events.
  void set_on_mark(std::function<void(uint32_t)> on_mark) { on_mark_ = std::move(on_mark); }
  // Books a mark from outside the program.
  void mark_from_outside(uint32_t name, uint64_t ticks) {
    mark(name, 0, ticks);
    if (on_mark_) on_mark_(name);
    if (snapshots_at_marks_) take_snapshot({ticks, true, name, 0, {}});
  }
  // A name may have several numbers: the books use the one that same_name returns. Without it each number is a name.
  void set_same_name(std::function<uint32_t(uint32_t)> same_name) { same_name_ = std::move(same_name); }
  // Sites below `count` may appear in events.
  void grow_sites(uint32_t count) { sites_.grow_to(count); }

  // One ring's events, in order.
  void apply(std::span<const Event> events, uint32_t ring);
  void apply(const Event& event, uint32_t ring);
  // Prefetch what a later event will need: first its block, then, some events later, its site.
  void prefetch_block(const Event& event) const {
    if (event.address != 0) heap_.prefetch_index(heap_.page_of(event.address), event.address);
  }
  void prefetch_site(const Event& event) const;

  bool has_parked() const { return !reorder_buffer_.empty(); }
  // Events deferred up to that stamp, by ring, wait no longer: the events that they need were not recorded.
  void give_up_until(std::span<const uint64_t> last_stamps);

  // Called when memory has run out: finish() then uses only the memory that there is.
  void stop_growing() {
    heap_.stop_growing();
    devices_.stop_growing();
  }
  // No event comes any more: settles waiting events, and ends the lifetimes. `end_ticks` is the end of the run.
  void finish(uint64_t end_ticks);

  const SiteBook& sites() const { return sites_; }
  SiteBook& host_sites() { return sites_; }
  const SiteBook& host_sites() const { return sites_; }
  const LedgerCounts& counts() const { return counts_; }
  const ScopeBook& scopes() const { return scopes_; }
  // Of the heap.
  const NameBook& names() const { return names_; }
  const LaunchBook& launches() const { return launches_; }
  const GpuTimeBook& gpu_times() const { return gpu_times_; }
  // From now on there is a snapshot at each mark, and whenever take_snapshot() is called.
  void start_snapshots() {
    snapshots_.start();
    largest_.start();
    snapshots_at_marks_ = true;
  }
  // Takes a snapshot of what is live now. Nothing is thrown: without memory there are no snapshots. pre:
  // start_snapshots()
  void take_snapshot(KeptSnapshot&& moment);
  const SnapshotBook& snapshots() const { return snapshots_; }
  void give_up_snapshots() { snapshots_.give_up(); }
  LiveTimeline& timeline() { return timeline_; }
  const StayBounds& bounds() const { return bounds_; }
  const StayBook& stays() const { return stays_; }
  DeviceLedger& devices() { return devices_; }
  const DeviceLedger& devices() const { return devices_; }
  MappingLedger& mappings() { return mappings_; }
  // Refused allocations of the heap.
  const Refusals& refused() const { return refused_; }
  uint64_t devices_bytes() const {
    return devices_.bytes() + mappings_.bytes() + tensors_.bytes() + stays_.bytes() +
           (names_by_address_.size() + left_out_.size()) * kNamedBytes;
  }
  // Where the decoder puts the rest of a device event.
  DeviceEventTable& device_events() { return device_events_; }
  size_t live_blocks() const { return heap_.size() + begun_blocks_; }
  uint64_t last_ticks() const { return now_ticks_; }
  // The block that begins there; nullopt: it is not live, or a realloc is working on it.
  std::optional<Block> find_live(uint64_t address) {
    const LiveHeap::Entry* const entry = heap_.find(address);
    return entry == nullptr ? std::nullopt : std::optional<Block>(entry->block(address));
  }
  // visit(const Block&): all live blocks. Before finish(), those that a realloc is working on are left out.
  template <typename Visitor>
  void for_each_live(const Visitor& visit) const {
    heap_.for_each(visit);
  }
  // visit(address, bytes): live blocks that were left out.
  template <typename Visitor>
  void for_each_left_out(const Visitor& visit) const {
    for (const auto& [address, word] : left_out_) visit(address, amount_of(left_out_block(address, word)).bytes);
  }
  // visit(const Block&): the blocks that a realloc is working on now. When it has ended, for_each_live() has them.
  template <typename Visitor>
  void for_each_begun(const Visitor& visit) const {
    for (const std::vector<BegunRealloc>& begun : begun_) {
      for (const BegunRealloc& one : begun) {
        if (one.state == BegunState::kKnown) visit(one.block);
      }
    }
  }
  // Frees the memory of the live blocks. pre: finish(), check() and for_each_live() have been called
  void release_blocks() { heap_.release(); }
  uint64_t block_bytes() const { return heap_.bytes(); }
  // Names the numbers that must agree and do not; empty if all agree. pre: finish() has been called
  std::vector<std::string> check() const;

 private:
  enum class BegunState : uint8_t {
    kKnown,    // `block` is unlinked and live
    kUnknown,  // no begin of that address was recorded
    kParked,   // the begin of its block may still come: it waits as the deferred event number `deferred`
    kLeftOut,  // its block was left out of the sums, and was taken from left_out_
  };
  struct BegunRealloc {
    Block block;        // address always, the rest if kKnown
    uint64_t last_key;  // what its thread has as last_address while the block is that thread's latest
    uint64_t deferred;
    uint32_t thread;  // the caller of realloc
    BegunState state;
    uint32_t name = 0;  // if kKnown: the block's name; 0: none
  };
  static constexpr uint64_t kNamedBytes = 48;       // an entry of a table apart from the heap
  static constexpr size_t kMaxNestedReallocs = 16;  // of one thread: in signal handlers, or left by longjmp

  void advance_clock(uint64_t stamp);
  void apply_staged(std::span<const Event> events, uint32_t ring);
  void apply_inline(const Event& event, uint32_t ring, const LiveHeap::Page* guess);
  void apply_other(const Event& event, uint32_t ring);
  void apply_device(const Event& event);
  void apply_inner(const DeviceEvent& device_event, const Event& event);
  void apply_device_in_scope(const DeviceEvent& device_event, const Event& event, uint32_t stack);
  void book_device(const DeviceEvent& device_event, const Event& event);
  void apply_scope(const Event& event);
  static Block left_out_block(uint64_t address, uint64_t size_word) {
    return {address, size_of(size_word), 0, 0, 0, rate_of(size_word)};
  }
  bool is_left_out(uint64_t address) const { return !left_out_.empty() && left_out_.count(address) != 0; }
  bool is_live(uint64_t address) { return heap_.find(address) != nullptr || is_left_out(address); }
  bool take_left_out(uint64_t address, Block* block);
  bool free_left_out(const Event& event);
  void leave_out(const Event& event);
  void on_malloc_in_pause(const Event& event, uint32_t ring);
  void on_realloc_end_in_pause(const Event& event, uint32_t ring);
  void perform_on_left_out(const ParkedEvent& deferred, const Block& block);
  void relink_left_out(const BegunRealloc& begun);
  void give_up_in_pause(const Event& event);
  void on_name(const Event& event, uint32_t ring);
  void name_memory(uint64_t address, uint32_t name);
  void name_block(const Block& block, uint32_t name);
  uint32_t take_name(uint64_t address);
  void end_name(const Block& block);
  void relink_name(const BegunRealloc& begun);
  void defer_name(const Event& of, uint32_t name, uint32_t ring);
  void note_live(uint32_t thread_id) {
    if (devices_changed_) [[unlikely]]
      tell_devices_live();
    scopes_.set_now(thread_id, sites_.totals().live.bytes);
  }
  void tell_devices_live();
  void mark(uint32_t name, uint32_t thread, uint64_t ticks);
  void take_own_snapshot(uint32_t name, uint32_t thread, uint64_t ticks, bool with_tensors);
  void find_tensors(uint32_t thread, KeptSnapshot* snapshot);
  std::vector<SnapshotBook::Look> look_at_all();
  template <typename Visitor>
  void for_each_book(const Visitor& visit);
  bool repairs() const { return repair_window_ != 0; }

  void on_malloc(const Event& event, uint32_t ring, const LiveHeap::Page* guess);
  void on_free(const Event& event, uint32_t ring, const LiveHeap::Page* guess);
  void on_realloc_begin(const Event& event, uint32_t ring);
  void on_realloc_end(const Event& event, uint32_t ring);
  void on_realloc_free(const Event& event, uint32_t ring);
  void on_realloc_cancel(const Event& event, uint32_t ring);
  void on_thread_left(const Event& event, uint32_t ring);

  void count_begin(const Event& event, Amount amount);
  void open_block(LiveHeap::Entry* entry, const Event& event);
  void close_block(const Block& block, uint64_t last_key, bool may_be_temporary);
  void close_begun(const BegunRealloc& begun, uint32_t thread, bool may_be_temporary) {
    close_block(begun.block, begun.last_key, may_be_temporary);
    free_in_scope(thread, amount_of(begun.block));
    if (begun.name != 0) remove_name(begun.name, begun.block);
  }
  // Counts a block that the thread freed, in the thread's current scope.
  void free_in_scope(uint32_t thread, Amount amount) {
    const uint32_t stack = threads_[thread].scopes;
    if (stack != 0) [[unlikely]]
      scopes_.free(stack, amount);
  }
  // The weight of the block.
  [[gnu::always_inline]] Amount amount_of(const Block& block) const {
    if (block.rate != 0) [[unlikely]]
      return weigh(block, rates_->interval_bytes(block.rate));
    return {block.size_bytes, 1};
  }
  void remove_name(uint32_t name, const Block& block) { names_.shrink(name, block.site, amount_of(block)); }
  void unlink(const Block& block, BegunRealloc* begun);
  void close_unseen(const Block& block);
  static bool has_block(const BegunRealloc& begun) {
    return begun.state == BegunState::kKnown || begun.state == BegunState::kLeftOut;
  }
  void count_others(const ParkedEvent& deferred, const Block& block);
  void note_growth();
  void note_change();
  void count_foreign() { ++counts_.foreign; }
  void count_free(const Event& event, uint64_t blocks = 1) {
    counts_.frees += blocks;
    threads_[event.thread()].frees += blocks;
  }

  bool take_begun(uint32_t thread, uint32_t ring, BegunRealloc* begun);
  std::vector<BegunRealloc>& begun_of(uint32_t ring);
  void relink(const BegunRealloc& begun, uint32_t ring);

  uint64_t defer(const Event& event, uint32_t ring);
  void settle_begun(const Event& begin, uint32_t ring);
  const ParkedEvent* find_passed(uint64_t address, uint32_t ring, uint64_t stamp);
  bool book_passed(const Event& begin, uint32_t ring);
  void settle(uint64_t address);
  Event revive(const ParkedEvent& deferred);
  void open_deferred(LiveHeap::Entry* entry, const Event& event, uint32_t scope_path);
  void perform(const ParkedEvent& deferred);
  void give_up(const ParkedEvent& deferred);
  void expire(uint64_t latest_stamp);

  ThreadTable& threads_;
  DeviceEventTable device_events_;
  DeviceLedger devices_;
  MappingLedger mappings_;
  Refusals refused_;
  TimeSource time_source_;
  LiveHeap heap_;
  SiteBook sites_;
  ScopeBook scopes_;
  bool has_paused_ = false;                          // a thread has paused at some time
  std::unordered_map<uint64_t, uint64_t> left_out_;  // size words of the heap's blocks that were left out, by address
  NameBook names_;
  std::function<uint32_t(uint32_t)> same_name_;
  std::function<void(uint32_t)> on_mark_;
  std::unordered_map<uint64_t, uint32_t> names_by_address_;  // of the heap's blocks
  LaunchBook launches_;
  GpuTimeBook gpu_times_;
  SnapshotBook snapshots_;
  bool snapshots_at_marks_ = false;
  TensorBook tensors_;
  LargestBlocks largest_;
  LiveTimeline timeline_;
  StayBounds bounds_;
  StayBook stays_;  // of the heap
  LedgerCounts counts_;
  uint64_t clock_ = 0;  // largest stamp seen
  uint64_t now_ticks_ = 0;
  uint64_t repair_window_ = 0;
  bool inherits_ = false;
  const SampleRates* rates_ = nullptr;
  bool devices_changed_ = false;  // since the scopes were last given what is live on devices
  uint64_t next_expiry_ = UINT64_MAX;
  ReorderBuffer reorder_buffer_;
  ReorderBuffer passed_;                          // ends after which their ring's next begin of the address was booked
  std::vector<std::vector<BegunRealloc>> begun_;  // by ring
  size_t begun_blocks_ = 0;                       // how many of begun_ are kKnown
  uint64_t begun_count_ = 0;                      // how many reallocs ever began
};

}  // namespace heapprof::cli
