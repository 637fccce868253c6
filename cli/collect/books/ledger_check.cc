// cli/collect/books/ledger_check.cc: how the books begin and end, and the ledger's own audit: sums that were kept
// separately must agree at the end of every run.
//
// Only this check found an aliasing bug in the peak of a prototype. It costs one pass over sites and live blocks.
#include "cli/base/saturating.h"
#include "cli/collect/books/ledger.h"

#include <algorithm>
#include <new>
#include <string>

namespace heapprof::cli {

void Ledger::start(uint64_t ticks) {
  now_ticks_ = ticks;
  timeline_.start(ticks);
  bounds_.start(ticks);
  devices_.start(ticks);
  mappings_.start(ticks);
}

void Ledger::set_drain_ticks(uint64_t ticks) {
  if (time_source_ == TimeSource::kDrains) now_ticks_ = std::max(now_ticks_, ticks);
}

void Ledger::on_thread_left(const Event& event, uint32_t ring) {
  BegunRealloc begun;
  while (take_begun(event.thread(), ring, &begun)) relink(begun, ring);  // the thread died inside realloc
  ThreadSlot& thread = threads_[event.thread()];
  if (thread.open_streams == 1) thread.pauses = 0;
  if (thread.scopes != 0) note_live(thread.id);
  if (event.thread() != 0 && thread.open_streams == 1) scopes_.end_all(std::exchange(thread.scopes, 0), now_ticks_);
  devices_.forget_thread(event.thread());
  mappings_.forget_thread(event.thread());
  tensors_.forget_thread(event.thread());
  devices_changed_ = true;
  threads_.left(event.thread());
}

void Ledger::give_up_until(std::span<const uint64_t> last_stamps) {
  for (const uint64_t address : passed_.addresses()) {
    while (const ParkedEvent* first = passed_.first(address)) {
      if (first->ring >= last_stamps.size() || first->event.stamp > last_stamps[first->ring]) break;
      give_up(*first);
      passed_.take_first(address);
    }
  }
  for (const uint64_t address : reorder_buffer_.addresses()) {
    while (const ParkedEvent* first = reorder_buffer_.first(address)) {
      if (first->ring >= last_stamps.size() || first->event.stamp > last_stamps[first->ring]) break;
      give_up(*first);
      reorder_buffer_.take_first(address);
      settle(address);
    }
  }
}

void Ledger::finish(uint64_t end_ticks) {
  now_ticks_ = std::max(now_ticks_, end_ticks);
  expire(UINT64_MAX);
  for (uint32_t ring = 0; ring < begun_.size(); ++ring) {
    std::vector<BegunRealloc>& begun = begun_[ring];
    while (!begun.empty()) {
      const BegunRealloc last = begun.back();
      begun.pop_back();
      if (last.state == BegunState::kKnown) --begun_blocks_;
      relink(last, ring);
    }
  }
  bounds_.finish(now_ticks_);
  heap_.for_each([&](const Block& block) {
    const Amount amount = amount_of(block);
    sites_.add_final_lifetime(block.site, now_ticks_ - block.birth, amount.blocks);
    stays_.leave(block.site, block.birth, amount.bytes, amount.blocks);
  });
  devices_.finish(now_ticks_);
  mappings_.finish(now_ticks_);
  devices_changed_ = true;
  try {
    note_live(0);
  } catch (const std::bad_alloc&) {  // then open runs report what devices had at their last change
  }
  scopes_.finish(now_ticks_);
}

std::vector<std::string> Ledger::check() const {
  std::vector<std::string> errors;
  const auto expect = [&errors](const char* left, uint64_t a, const char* right, uint64_t b) {
    if (a != b)
      errors.push_back(std::string(left) + " is " + std::to_string(a) + ", " + right + " is " + std::to_string(b));
  };
  Amount live{}, peak{}, total{};
  uint64_t temporary_blocks = 0;
  for (uint32_t i = 1; i < sites_.size(); ++i) {
    const SiteEntry& site = sites_[i];
    const Amount at_peak = sites_.at_peak(i);
    live = {live.bytes + site.live.bytes, live.blocks + site.live.blocks};
    peak = {peak.bytes + at_peak.bytes, peak.blocks + at_peak.blocks};
    add_to(&total.bytes, site.total.bytes);
    total.blocks += site.total.blocks;
    temporary_blocks += site.temporary_blocks;
  }
  Amount heap{};
  heap_.for_each([&](const Block& block) {
    const Amount amount = amount_of(block);
    heap = {heap.bytes + amount.bytes, heap.blocks + amount.blocks};
  });

  const SiteBook::Totals& totals = sites_.totals();
  expect("the sum of the sites' live bytes", live.bytes, "the live total", totals.live.bytes);
  expect("the sum of the sites' live blocks", live.blocks, "the live total", totals.live.blocks);
  expect("the sum of the live blocks' sizes", heap.bytes, "the live total", totals.live.bytes);
  expect("the number of live blocks", heap.blocks, "the live total", totals.live.blocks);
  const ThreadSlot by_threads = threads_.sum();
  expect("the sum of the sites' bytes", total.bytes, "the sum of the threads'", by_threads.total_bytes);
  expect("the sum of the sites' blocks", total.blocks, "the sum of the threads'", by_threads.allocations);
  expect("the sum of the sites' bytes at the peak", peak.bytes, "the peak", totals.peak.bytes);
  expect("the sum of the sites' blocks at the peak", peak.blocks, "the peak", totals.peak.blocks);
  expect("the sum of the sites' temporary blocks", temporary_blocks, "the total", totals.temporary_blocks);
  expect("the number of allocations", counts_.allocations, "the sum of the sites' blocks", total.blocks);
  expect("the number of frees", counts_.frees, "the sum of the threads' frees", by_threads.frees);
  expect("the number of blocks by the count of events",
         counts_.allocations + counts_.foreign + counts_.left_out_ended - counts_.frees - counts_.reallocs -
             counts_.unseen_frees,
         "the live total", totals.live.blocks);
  if (scopes_.allocated_blocks() > sites_.total().blocks)
    errors.push_back("scopes allocated " + std::to_string(scopes_.allocated_blocks()) + " blocks, all sites " +
                     std::to_string(sites_.total().blocks));
  expect("the timeline's last value", timeline_.last_bytes(), "the live total", totals.live.bytes);
  return errors;
}

}  // namespace heapprof::cli
