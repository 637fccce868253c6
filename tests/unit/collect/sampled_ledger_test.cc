// tests/unit/collect/sampled_ledger_test.cc: books of chosen blocks beside others agree with a map of what is live,
// whatever becomes of the blocks: each goes by one weight from its begin to its end.
#include "cli/collect/books/ledger.h"
#include "shared/scopes.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kIntervals[] = {0, 4096, 100'000};  // by rate
constexpr uint64_t kSizes[] = {1, 24, 500, 4096, 9'999, 300'000};

struct Live {
  uint64_t size_word;
  uint64_t birth;
  bool is_left_out;
};

class Play {
 public:
  explicit Play(uint64_t seed) : random_(seed), ledger(&threads, Ledger::TimeSource::kStamps) {
    for (uint32_t i = 0; i < 3; ++i) threads.enter(100 + i);
    ledger.grow_sites(10);
    ledger.start(0);
    for (const uint64_t interval_bytes : kIntervals) {
      if (interval_bytes != 0) rates.add(interval_bytes);
    }
    ledger.set_sampled(&rates);
  }

  void step() {
    const auto thread = static_cast<uint32_t>(1 + random_() % 3);
    const uint64_t choice = random_() % 100;
    if (choice < 45 || live_.empty()) return allocate(thread, fresh_address());
    if (choice < 70) return free(thread);
    if (choice < 90) return reallocate(thread);
    if (choice < 95) return pause(thread);
    ++unknown_;  // the end of a block that nobody knows, as its address had a mark
    send(thread, EventKind::kFree, fresh_address());
  }
  void free_all() {
    while (!live_.empty()) free(1);
  }
  // What is live in the books is what is live here.
  void check() {
    Amount live{}, left_out{};
    for (const auto& [address, block] : live_) {
      const uint64_t birth = block.is_left_out ? 0 : block.birth;
      const Block as_block{address, size_of(block.size_word), birth, 1, 1, rate_of(block.size_word)};
      const Amount amount =
          as_block.rate == 0 ? Amount{as_block.size_bytes, 1} : weigh(as_block, kIntervals[as_block.rate]);
      Amount& sum = block.is_left_out ? left_out : live;
      sum = {sum.bytes + amount.bytes, sum.blocks + amount.blocks};
    }
    CHECK(ledger.sites().totals().live.bytes == live.bytes);
    CHECK(ledger.sites().totals().live.blocks == live.blocks);
    uint64_t left_out_bytes = 0;
    ledger.for_each_left_out([&](uint64_t, uint64_t bytes) { left_out_bytes += bytes; });
    CHECK(left_out_bytes == left_out.bytes);
    CHECK(ledger.counts().foreign == unknown_);
  }
  void finish() {
    ledger.finish(stamp_ + 1);
    for (const std::string& error : ledger.check()) FAIL_CHECK(error);
  }

 private:
  uint64_t fresh_address() { return next_address_ += 16 * (1 + random_() % 8); }
  uint64_t any_size() {
    return pack_size(kSizes[random_() % std::size(kSizes)], static_cast<uint32_t>(random_() % std::size(kIntervals)));
  }
  auto any_live() { return std::next(live_.begin(), static_cast<std::ptrdiff_t>(random_() % live_.size())); }

  void allocate(uint32_t thread, uint64_t address) {
    const uint64_t word = any_size();
    send(thread, EventKind::kMalloc, address, word);
    live_[address] = {word, stamp_, pauses_[thread] != 0};
  }
  void free(uint32_t thread) {
    const auto block = any_live();
    send(thread, EventKind::kFree, block->first);
    live_.erase(block);
  }
  void reallocate(uint32_t thread) {
    const auto block = any_live();
    const uint64_t old = block->first;
    send(thread, EventKind::kReallocBegin, old);
    const uint64_t outcome = random_() % 4;
    if (outcome == 0) return send(thread, EventKind::kReallocCancel, 0);
    live_.erase(block);
    if (outcome == 1) return send(thread, EventKind::kReallocFree, 0);  // what came of it was not chosen
    const uint64_t address = outcome == 2 ? old : fresh_address();
    const uint64_t word = any_size();
    send(thread, EventKind::kReallocEnd, address, word);
    live_[address] = {word, stamp_, pauses_[thread] != 0};
  }
  void pause(uint32_t thread) {
    const bool is_paused = pauses_[thread] != 0;
    const auto operation = is_paused ? wire::ScopeOperation::kResume : wire::ScopeOperation::kPause;
    send(thread, EventKind::kScope, wire::pack_scope(operation, 0, 0));
    pauses_[thread] = is_paused ? 0 : 1;
  }
  void send(uint32_t thread, EventKind kind, uint64_t address, uint64_t size_word = 0) {
    ledger.apply(Event{++stamp_, address, size_word, size_word == 0 ? 0u : 1u, pack_thread(thread, kind)}, thread - 1);
  }

  std::mt19937_64 random_;
  std::map<uint64_t, Live> live_;
  uint64_t pauses_[4] = {};
  uint64_t next_address_ = 0x10000;
  uint64_t stamp_ = 0;
  uint64_t unknown_ = 0;

 public:
  ThreadTable threads;
  SampleRates rates;
  Ledger ledger;
};

}  // namespace

TEST_CASE("chosen blocks weigh the same from their begin to their end, beside others and in pauses") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Play play(seed);
    for (int step = 0; step < 2'000; ++step) {
      play.step();
      if (step % 100 == 0) play.check();
    }
    play.check();
    if (seed % 2 == 0) play.free_all();
    play.check();
    play.finish();
  }
}

}  // namespace heapprof::cli
