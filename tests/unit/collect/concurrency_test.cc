// tests/unit/collect/concurrency_test.cc: threads that write while the collector reads, with real time stamps and
// blocks that go from hand to hand.
//
// Every thread keeps its own books; what does not depend on the order between threads must come out exactly. The peak
// must lie between what the books allow.
#include "cli/collect/clock.h"
#include "cli/collect/process_collector.h"
#include "cli/collect/rings/second_thread.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <random>
#include <thread>

namespace heapprof::cli {
namespace {

using test::FakeAgent;
using test::RingBuilder;

constexpr uint32_t kSites = 8;

struct OwnBooks {
  std::array<uint64_t, kSites> allocated_bytes{};
  std::array<uint64_t, kSites> allocated_blocks{};
  std::array<int64_t, kSites> live_bytes{};
  uint64_t frees = 0;
};

// What the threads hand over to each other: an allocator with its free list, and a pool of live blocks.
class SharedHeap {
 public:
  struct Block {
    uint64_t address = 0;
    uint32_t site = 0;
    uint64_t size_bytes = 0;
  };
  uint64_t allocate() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return next_ += 16;
    const uint64_t address = free_.back();
    free_.pop_back();
    return address;
  }
  void release(uint64_t address) {
    const std::lock_guard lock(mutex_);
    free_.push_back(address);
  }
  void give(const Block& block) {
    const std::lock_guard lock(mutex_);
    live_.push_back(block);
  }
  Block take(uint64_t random) {
    const std::lock_guard lock(mutex_);
    if (live_.empty()) return {};
    std::swap(live_[random % live_.size()], live_.back());
    const Block block = live_.back();
    live_.pop_back();
    return block;
  }

 private:
  std::mutex mutex_;
  std::vector<uint64_t> free_;
  std::vector<Block> live_;
  uint64_t next_ = 0x10000;
};

struct Producer {
  FakeAgent* agent;
  SharedHeap* heap;
  wire::ClockMode clock;
  uint32_t seed;
  int events;
  OwnBooks books;

  uint64_t stamp() const {
    if (clock == wire::ClockMode::kTsc) return read_ticks(clock);
    return agent->control().sequence.fetch_add(1) + 1;
  }

  void run() {
    std::mt19937 random(seed);
    RingBuilder ring = agent->claim();
    ring.when_full = [] { std::this_thread::yield(); };
    ring.open(static_cast<uint32_t>(::syscall(SYS_gettid)), stamp());
    for (int i = 0; i < events; ++i) {
      if (random() % 100 < 52) {
        const auto site = static_cast<uint32_t>(random() % kSites);
        const uint64_t size_bytes = random() % 500;
        const uint64_t address = heap->allocate();
        ring.wait_for_space(4096);
        ring.begin_event();
        ring.malloc(address, size_bytes, {1, 2, 100 + site}, stamp());
        ring.end_event();
        books.allocated_bytes[site] += size_bytes;
        books.allocated_blocks[site] += 1;
        books.live_bytes[site] += static_cast<int64_t>(size_bytes);
        heap->give({address, site, size_bytes});
      } else if (const SharedHeap::Block block = heap->take(random()); block.address != 0) {
        ring.wait_for_space(4096);
        ring.begin_event();
        ring.free(block.address, stamp());
        ring.end_event();
        books.live_bytes[block.site] -= static_cast<int64_t>(block.size_bytes);
        ++books.frees;
        heap->release(block.address);
      }
    }
  }
};

void run_threads(wire::ClockMode clock, wire::FenceMode fence, uint32_t count) {
  CollectorOptions options;
  options.clock_mode = clock;
  options.fence_mode = fence;
  SecondThread second;
  if (GENERATE(false, true)) {
    options.second = &second;
    options.second_from_bytes = 1;
  }
  auto collector = std::move(ProcessCollector::create(options)).value();
  FakeAgent agent(collector->arena_fd());
  wire::Hello hello{};
  hello.flags = wire::kHelloMembarrierRegistered;
  collector->start(hello, {::getpid(), false, "/proc/self/exe"});

  SharedHeap heap;
  std::vector<Producer> producers;
  for (uint32_t i = 0; i < count; ++i) producers.push_back({&agent, &heap, clock, i + 1, 40'000, {}});
  std::vector<std::thread> threads;
  std::atomic<uint32_t> running = count;
  for (Producer& producer : producers) {
    threads.emplace_back([&producer, &running] {
      producer.run();
      running.fetch_sub(1);
    });
  }
  while (running.load() != 0) {
    if (collector->drain() == 0) ::usleep(100);
  }
  for (std::thread& thread : threads) thread.join();
  collector->drain_to_end();
  const Recording recording = collector->finish();

  OwnBooks sum;
  for (const Producer& producer : producers) {
    sum.frees += producer.books.frees;
    for (uint32_t site = 0; site < kSites; ++site) {
      sum.allocated_bytes[site] += producer.books.allocated_bytes[site];
      sum.allocated_blocks[site] += producer.books.allocated_blocks[site];
      sum.live_bytes[site] += producer.books.live_bytes[site];
    }
  }
  const Counters& counters = recording.run.counters;
  CHECK(counters.frees == sum.frees);
  CHECK(counters.foreign_frees == 0);
  CHECK(counters.unseen_frees == 0);
  CHECK(counters.corrupt_records == 0);
  CHECK(recording.run.complete);
  uint64_t live_bytes = 0;
  for (const RecordedSite& site : recording.devices[0].sites) {
    const uint64_t key = recording.locations[recording.stacks[site.stack].location].svma - 100;
    REQUIRE(key < kSites);
    CHECK(site.numbers.total_bytes == sum.allocated_bytes[key]);
    CHECK(site.numbers.total_blocks == sum.allocated_blocks[key]);
    CHECK(static_cast<int64_t>(site.numbers.leaked_bytes) == sum.live_bytes[key]);
    live_bytes += site.numbers.leaked_bytes;
  }
  CHECK(recording.devices[0].totals.leaked_bytes == live_bytes);
  CHECK(recording.devices[0].totals.peak_bytes >= live_bytes);
  CHECK(recording.run.threads.size() == count);
  for (const std::string& error : recording.consistency_errors) FAIL_CHECK(error);
}

TEST_CASE("threads that hand blocks to each other while the collector reads") {
  const uint32_t threads = GENERATE(1u, 2u, 6u);
  SECTION("time stamps and membarrier") {
    if (detect_clock_mode() != wire::ClockMode::kTsc) return;
    REQUIRE(::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0);
    run_threads(wire::ClockMode::kTsc, wire::FenceMode::kMembarrierExpedited, threads);
  }
  SECTION("a sequence") { run_threads(wire::ClockMode::kSequence, wire::FenceMode::kMembarrierExpedited, threads); }
}

}  // namespace
}  // namespace heapprof::cli
