// cli/collect/rings/thread_table.cc: a program may start a million threads, one after the other.
//
// Each thread's sums stay exact while it runs. A slot for every thread that ever existed would need memory without
// bound. So a slot is reused when its thread has ended and its last block (which could still turn out to be temporary)
// is gone. Of the ended threads, the sums of the 1,000 largest are kept. When there are twice as many, one nth_element
// finds the smaller half, which is added to "others". So the end of a thread costs little.
#include "cli/collect/rings/thread_table.h"

#include "cli/base/saturating.h"
#include "cli/collect/rings/event.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

constexpr size_t kMaxUnnamed = 4096;

bool is_larger(const Thread& a, const Thread& b) {
  if (a.total_bytes != b.total_bytes) return a.total_bytes > b.total_bytes;
  if (a.allocations != b.allocations) return a.allocations > b.allocations;
  return a.id < b.id;
}

bool has_events(const ThreadSlot& slot) { return slot.allocations != 0 || slot.frees != 0; }

Thread as_thread(const ThreadSlot& slot, std::string name) {
  Thread thread;
  thread.id = slot.id;
  thread.name = std::move(name);
  thread.allocations = slot.allocations;
  thread.total_bytes = slot.total_bytes;
  thread.frees = slot.frees;
  return thread;
}

}  // namespace

ThreadTable::ThreadTable() {
  slots_.grow_to(1);
  names_.resize(1);
}

uint32_t ThreadTable::enter(uint32_t id) {
  auto [at, is_new] = open_.try_emplace(id, 0);
  if (is_new) {
    if (!free_.empty()) {
      at->second = free_.back();
      free_.pop_back();
    } else if (slots_.size() < kMaxThreadSlots) {
      at->second = static_cast<uint32_t>(slots_.size());
      slots_.grow_to(slots_.size() + 1);
      names_.emplace_back();
    } else {
      open_.erase(at);
      return 0;
    }
    slots_[at->second] = {};
    slots_[at->second].id = id;
    names_[at->second].clear();
    if (unnamed_.size() < kMaxUnnamed) unnamed_.push_back(at->second);
  }
  ThreadSlot& slot = slots_[at->second];
  ++slot.open_rings;
  ++slot.open_streams;
  return at->second;
}

void ThreadTable::leave(uint32_t index) {
  if (index == 0) return;
  ThreadSlot& slot = slots_[index];
  if (--slot.open_rings == 0) open_.erase(slot.id);
}

void ThreadTable::left(uint32_t index) {
  if (index == 0) return;
  ThreadSlot& slot = slots_[index];
  if (--slot.open_streams != 0 || slot.open_rings != 0) return;
  if (has_events(slot)) keep(as_thread(slot, std::move(names_[index])));
  names_[index].clear();
  slot.has_ended = 1;
  if (slot.last_address == 0) release(index);
}

void ThreadTable::release(uint32_t index) {
  slots_[index] = {};
  free_.push_back(index);
}

void ThreadTable::keep(Thread thread) {
  ended_.push_back(std::move(thread));
  if (ended_.size() >= 2 * kKept) drop_small();
}

void ThreadTable::drop_small() {
  if (ended_.size() <= kKept) return;
  const auto end_of_kept = ended_.begin() + kKept;
  std::nth_element(ended_.begin(), end_of_kept, ended_.end(), is_larger);
  for (auto thread = end_of_kept; thread != ended_.end(); ++thread) {
    others_.allocations += thread->allocations;
    others_.total_bytes = add_saturating(others_.total_bytes, thread->total_bytes);
    others_.frees += thread->frees;
    ++others_count_;
  }
  ended_.erase(end_of_kept, ended_.end());
}

ThreadSlot ThreadTable::sum() const {
  ThreadSlot sum{};
  const auto add = [&sum](uint64_t allocations, uint64_t total_bytes, uint64_t frees) {
    sum.allocations += allocations;
    sum.total_bytes = add_saturating(sum.total_bytes, total_bytes);
    sum.frees += frees;
  };
  for (const ThreadSlot& slot : slots_) {
    if (slot.has_ended == 0) add(slot.allocations, slot.total_bytes, slot.frees);
  }
  for (const Thread& thread : ended_) add(thread.allocations, thread.total_bytes, thread.frees);
  add(others_.allocations, others_.total_bytes, others_.frees);
  return sum;
}

void ThreadTable::finish(std::vector<Thread>* threads, Thread* others, uint64_t* others_count) {
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const ThreadSlot& slot = slots_[i];
    if (slot.has_ended == 0 && has_events(slot)) ended_.push_back(as_thread(slot, names_[i]));
  }
  drop_small();
  std::sort(ended_.begin(), ended_.end(), is_larger);
  *threads = ended_;
  *others = others_;
  *others_count = others_count_;
}

}  // namespace heapprof::cli
