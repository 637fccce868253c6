// tests/support/heap_story.h: makes up what a program with several threads does with its heap, and keeps the reference
// books.
//
// Addresses come from a small pool, last freed first, so that they are used again at once, often by another thread. A
// realloc begins, happens and ends at three different times, with other threads' events in between. Some fail, some
// free, some blocks and frees belong to nobody we know.
#pragma once

#include "tests/support/reference_books.h"

#include <array>
#include <random>

namespace heapprof::test {

enum class StoryKind { kMalloc, kFree, kReallocBegin, kReallocEnd, kReallocCancel, kReallocFree };

struct StoryEvent {
  uint32_t thread;  // from 0
  StoryKind kind;
  uint64_t address;
  uint64_t size_bytes;
  uint32_t site;   // from 0
  uint64_t stamp;  // strictly increasing over the story
  uint64_t chain;  // the address that begins or ends here, also where the record does not tell
};

struct StoryOptions {
  uint32_t threads = 4;
  uint32_t sites = 40;
  uint32_t events = 20'000;
  uint64_t first_stamp = 1000;
  uint64_t largest_step = 20;      // of the stamps
  uint32_t foreign_per_mille = 3;  // frees of addresses never seen
  uint32_t seed = 1;
};

class HeapStory {
 public:
  explicit HeapStory(const StoryOptions& options)
      : options_(options), random_(options.seed), threads_(options.threads) {
    stamp_ = options.first_stamp;
    for (uint64_t i = 0; i < kPool; ++i) pool_.push_back(0x10000 + (kPool - i) * 16);
    while (events.size() < options_.events) step();
    for (uint32_t i = 0; i < threads_.size(); ++i) {  // every realloc returns
      if (threads_[i].stage == Stage::kBegun) move(threads_[i]);
      if (threads_[i].stage == Stage::kMoved) end_realloc(i, threads_[i]);
    }
    end_stamp = stamp_ + 100;
    books.finish(end_stamp);
  }

  std::vector<StoryEvent> events;
  ReferenceBooks<uint32_t> books;
  uint64_t foreign = 0;
  uint64_t reallocs = 0;
  uint64_t failed_reallocs = 0;
  uint64_t frees = 0;
  uint64_t end_stamp = 0;

 private:
  static constexpr uint64_t kPool = 3000;
  static constexpr uint64_t kInFlight = 1ull << 60;  // where the reference keeps blocks that realloc has begun

  enum class Stage { kIdle, kBegun, kMoved };
  struct Thread {
    Stage stage = Stage::kIdle;
    StoryKind outcome = StoryKind::kReallocEnd;
    uint64_t old_address = 0;
    uint64_t address = 0;
  };

  uint64_t below(uint64_t limit) { return random_() % limit; }
  uint64_t size() {
    switch (below(8)) {
      case 0: return 0;
      case 1: return below(100'000);
      case 2: return 5'000'000'000 + below(1000);
      default: return 1 + below(600);
    }
  }
  uint64_t take_address() {
    const uint64_t address = pool_.back();
    pool_.pop_back();
    return address;
  }
  void tell(uint32_t thread, StoryKind kind, uint64_t address, uint64_t size_bytes = 0, uint32_t site = 0) {
    stamp_ += 1 + below(options_.largest_step);
    const uint64_t chain = address != 0 ? address : threads_[thread].old_address;
    events.push_back({thread, kind, address, size_bytes, site, stamp_, chain});
  }

  void step() {
    const auto index = static_cast<uint32_t>(below(threads_.size()));
    Thread& thread = threads_[index];
    if (thread.stage == Stage::kBegun) return move(thread);
    if (thread.stage == Stage::kMoved) return end_realloc(index, thread);
    if (below(1000) < options_.foreign_per_mille) {
      tell(index, StoryKind::kFree, 0x700000000000 + below(1000) * 16);
      ++foreign;
      ++frees;
      return;
    }
    const uint64_t grows = books.live_blocks < 50 ? 90 : (events.size() / 4000 % 2 == 0 ? 52 : 46);
    if (pool_.size() > 10 && below(100) < grows) {
      const uint64_t address = take_address(), size_bytes = size();
      const auto site = static_cast<uint32_t>(below(options_.sites));
      tell(index, StoryKind::kMalloc, address, size_bytes, site);
      books.allocate(address, size_bytes, site, index, stamp_);
    } else if (const uint64_t victim = pick_live(); victim != 0) {
      if (below(5) == 0) return begin_realloc(index, thread, victim);
      tell(index, StoryKind::kFree, victim);
      books.release(victim, stamp_);
      pool_.push_back(victim);
      ++frees;
    }
  }

  uint64_t pick_live() {
    if (books.blocks.empty()) return 0;
    auto at = books.blocks.lower_bound(0x10000 + below(kPool + 1) * 16);
    if (at == books.blocks.end()) at = books.blocks.begin();
    return at->first >= kInFlight ? 0 : at->first;
  }

  void begin_realloc(uint32_t index, Thread& thread, uint64_t victim) {
    tell(index, StoryKind::kReallocBegin, victim);
    books.blocks[kInFlight + index] = books.blocks.at(victim);
    books.blocks.erase(victim);
    thread.stage = Stage::kBegun;
    thread.old_address = victim;
    const uint64_t fate = below(10);
    thread.outcome = fate == 0   ? StoryKind::kReallocCancel
                     : fate == 1 ? StoryKind::kReallocFree
                                 : StoryKind::kReallocEnd;
  }

  // The real call: from here on the old address may be somebody else's.
  void move(Thread& thread) {
    thread.stage = Stage::kMoved;
    if (thread.outcome == StoryKind::kReallocCancel) return;
    if (thread.outcome == StoryKind::kReallocEnd) {
      const bool in_place = below(2) == 0 || pool_.empty();
      thread.address = in_place ? thread.old_address : take_address();
      if (in_place) return;
    }
    pool_.push_back(thread.old_address);
  }

  void end_realloc(uint32_t index, Thread& thread) {
    thread.stage = Stage::kIdle;
    const uint64_t in_flight = kInFlight + index;
    if (thread.outcome == StoryKind::kReallocCancel) {
      tell(index, thread.outcome, 0);
      books.blocks[thread.old_address] = books.blocks.at(in_flight);
      books.blocks.erase(in_flight);
      ++failed_reallocs;
    } else if (thread.outcome == StoryKind::kReallocFree) {
      tell(index, thread.outcome, 0);
      books.release(in_flight, stamp_);
      ++frees;
    } else {
      const uint64_t size_bytes = size();
      const auto site = static_cast<uint32_t>(below(options_.sites));
      tell(index, thread.outcome, thread.address, size_bytes, site);
      books.reallocate(in_flight, thread.address, size_bytes, site, index, stamp_);
      ++reallocs;
    }
  }

  StoryOptions options_;
  std::mt19937_64 random_;
  std::vector<Thread> threads_;
  std::vector<uint64_t> pool_;
  uint64_t stamp_ = 0;
};

// Stamps some events of different threads the wrong way round, as rdtsc does: an event may get a stamp up to `reach`
// too small, but it stays behind its own thread's last one, and behind the last but one of its address: what rdtsc gets
// wrong is one handing over, not two in a row. Where the last one of its address is its own thread's (an allocator that
// gives a thread what it has just freed), both may be stamped before the one that was handed over. Returns the events
// in the order of their new stamps.
inline std::vector<StoryEvent> with_inversions(const std::vector<StoryEvent>& events, uint32_t threads, uint64_t reach,
                                               uint32_t seed) {
  struct Chain {
    uint64_t but_two = 0;  // the largest stamp but those of the last two events
    uint64_t but_one = 0;
    uint64_t last = 0;
    uint32_t thread = UINT32_MAX;  // of the last
  };
  std::mt19937_64 random(seed);
  std::vector<StoryEvent> changed = events;
  std::vector<uint64_t> last(threads, 0);
  std::map<uint64_t, Chain> chains;
  for (StoryEvent& event : changed) {
    Chain& chain = chains[event.chain];
    if (random() % 4 == 0) event.stamp -= std::min(event.stamp, random() % (reach + 1));
    const uint64_t bound = chain.thread == event.thread ? chain.but_two : chain.but_one;
    event.stamp = std::max({event.stamp, last[event.thread] + 1, bound + 1});
    last[event.thread] = event.stamp;
    chain = {chain.but_one, std::max(chain.but_one, chain.last), event.stamp, event.thread};
  }
  std::stable_sort(changed.begin(), changed.end(),
                   [](const StoryEvent& a, const StoryEvent& b) { return a.stamp < b.stamp; });
  return changed;
}

}  // namespace heapprof::test
