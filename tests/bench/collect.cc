// tests/bench/collect.cc: what the collector costs, in nanoseconds a record, from the ring's bytes to the books.
//
// A played agent fills rings; only the collector's rounds are timed, by the clock on the wall. Prints a table; asserts
// nothing. Not timed: the target's cache lines coming over from another core, which is what a real run adds.
//
//   bench_collect [ROW [DIVISOR [THREADS]]]      ROW 0: all; a larger DIVISOR: shorter; THREADS 1 or 2 of the collector
//   bench_collect --record FILE PROGRAM…         keeps what a real program's rings held (tape.h)
//   bench_collect --make FILE SHAPE RECORDS  a tape of a generated program, the same on every machine (make_tape.cc)
//   bench_collect --replay FILE [REPEATS [THREADS]]  plays it: of each round the fastest of all repeats counts
#include "cli/base/clock.h"
#include "cli/collect/clock.h"
#include "cli/collect/process_collector.h"
#include "cli/collect/rings/second_thread.h"
#include "tests/bench/tape.h"
#include "tests/support/ring_builder.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <random>

namespace {

using namespace heapprof;
using namespace heapprof::cli;
using test::FakeAgent;
using test::RingBuilder;
using test::Stack;

uint64_t g_divisor = 1;
int g_threads = 1;

class Bench {
 public:
  Bench(const char* name, uint32_t ring_count) : name_(name) {
    CollectorOptions options;
    options.clock_mode = detect_clock_mode();
    options.fence_mode = wire::FenceMode::kProducerFence;
    options.patience_ns = UINT64_MAX / 2;
    if (g_threads == 2) options.second = &second_;
    auto created = ProcessCollector::create(options);
    if (!created.ok()) {
      std::printf("%s: %s\n", name, created.problem().what.c_str());
      std::exit(1);
    }
    collector_ = std::move(created).value();
    agent_ = std::make_unique<FakeAgent>(collector_->arena_fd());
    collector_->start(wire::Hello{}, {::getpid(), false, "/proc/self/exe"});
    agent_->add_module({"/bin/bench", "\x01", 0x400000, 0x80000000, 0x400000, 0});
    for (uint32_t i = 0; i < ring_count; ++i) {
      rings.push_back(agent_->claim());
      rings.back().open(static_cast<uint32_t>(::getpid()), stamp());
      rings.back().when_full = [this] { drain(); };
    }
  }

  static uint64_t stamp() { return read_ticks(wire::ClockMode::kTsc); }

  void drain() {
    const uint64_t before = monotonic_ns();
    records_ += collector_->drain();
    spent_ns_ += monotonic_ns() - before;
  }
  // What came before was preparation.
  void restart() {
    drain();
    records_ = spent_ns_ = 0;
  }
  void report() {
    drain();
    collector_->drain_to_end();
    const uint64_t before = monotonic_ns();
    const Recording recording = collector_->finish();
    const uint64_t finish_ns = monotonic_ns() - before;
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    std::printf("%-44s %7.1f ns/record %10lu records %9zu sites %9zu nodes %6.0f ms finish, max rss %ld MiB\n", name_,
                static_cast<double>(spent_ns_) / static_cast<double>(records_), records_,
                recording.devices[0].sites.size(), recording.stacks.size(), static_cast<double>(finish_ns) / 1e6,
                usage.ru_maxrss / 1024);
    for (const std::string& error : recording.consistency_errors) std::printf("  %s\n", error.c_str());
  }

  std::vector<RingBuilder> rings;

 private:
  const char* name_;
  SecondThread second_;
  std::unique_ptr<ProcessCollector> collector_;
  std::unique_ptr<FakeAgent> agent_;
  uint64_t records_ = 0;
  uint64_t spent_ns_ = 0;
};

Stack base_stack(size_t depth) {
  Stack stack;
  for (size_t i = 0; i < depth; ++i) stack.push_back(0x401000 + 64 * i);
  return stack;
}

void tight_loop() {
  Bench bench("malloc and free in a loop, depth 30", 1);
  Stack stack = base_stack(30);
  for (uint64_t i = 0; i < 10'000'000 / g_divisor; ++i) {
    stack.back() = 0x500000 + (i & 1) * 8;  // one fresh frame each time
    bench.rings[0].malloc(0x10000000, 100, stack, 1);
    bench.rings[0].free(0x10000000, 1);
  }
  bench.report();
}

// Three fresh frames an event, as compilers and interpreters have.
void new_frames(Stack* stack, uint64_t which) {
  stack->resize(20);
  for (uint64_t part = which, i = 0; i < 3; ++i, part /= 128) stack->push_back(0x600000 + (part % 128) * 32 + i * 8192);
}

// `is_near`: new stacks come up one after the other, and old ones come back soon or never, as in a compiler; else all
// at random.
void distinct_stacks(const char* name, bool is_near) {
  Bench bench(name, 1);
  std::mt19937_64 random(1);
  Stack stack = base_stack(20);
  for (uint64_t i = 0; i < 3'000'000 / g_divisor; ++i) {
    const uint64_t reach = is_near ? 3000 : 1'050'000;
    new_frames(&stack, (is_near ? i / 3 : 0) + random() % reach);
    bench.rings[0].malloc(0x10000000 + i * 48, 40, stack, 1);
    if (i % 2 == 1) bench.rings[0].free(0x10000000 + (i - 1) * 48, 1);
  }
  bench.report();
}

void many_live() {
  Bench bench("5 M live blocks, freed and made at random", 1);
  std::mt19937_64 random(1);
  const uint64_t live_blocks = 5'000'000 / g_divisor;
  Stack stack = base_stack(20);
  for (uint64_t i = 0; i < live_blocks; ++i) {
    new_frames(&stack, random() % 1000);
    bench.rings[0].malloc(0x10000000 + i * 48, 40, stack, 1);
  }
  bench.restart();
  for (uint64_t i = 0; i < 5'000'000 / g_divisor; ++i) {
    new_frames(&stack, random() % 1000);
    const uint64_t address = 0x10000000 + random() % live_blocks * 48;
    bench.rings[0].free(address, 1);
    bench.rings[0].malloc(address, 50, stack, 1);
  }
  bench.report();
}

void several_rings(const char* name, uint32_t rings, uint64_t burst) {
  Bench bench(name, rings);
  std::mt19937_64 random(1);
  std::vector<Stack> stacks(rings, base_stack(20));
  for (uint64_t i = 0; i < 4'000'000 / burst / g_divisor; ++i) {
    const uint64_t ring = random() % rings;
    for (uint64_t k = 0; k < burst; ++k) {
      new_frames(&stacks[ring], random() % 1000);
      const uint64_t address = 0x10000000 + ring * 0x1000000 + k % 64 * 48;
      bench.rings[ring].malloc(address, 40, stacks[ring], Bench::stamp());
      bench.rings[ring].free(address, Bench::stamp());
    }
  }
  bench.report();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "--record") == 0)
    return heapprof::test::record_tape(argv[2], {argv + 3, argv + argc});
  if (argc > 4 && std::strcmp(argv[1], "--make") == 0) {
    const bool is_shape = heapprof::test::make_tape(argv[2], argv[3], std::strtoul(argv[4], nullptr, 10));
    if (!is_shape) std::fprintf(stderr, "bench_collect: there is no shape %s\n", argv[3]);
    return is_shape ? 0 : 1;
  }
  if (argc > 2 && std::strcmp(argv[1], "--replay") == 0) {
    const int repeats = argc > 3 ? std::atoi(argv[3]) : 1;
    const bool is_tape = heapprof::test::replay_tape(argv[2], repeats, argc > 4 ? std::atoi(argv[4]) : 1);
    if (!is_tape) std::fprintf(stderr, "bench_collect: %s is no tape of this version\n", argv[2]);
    return is_tape ? 0 : 1;
  }
  const int only = argc > 1 ? std::atoi(argv[1]) : 0;            // number of the row
  if (argc > 2) g_divisor = std::strtoul(argv[2], nullptr, 10);  // shorter, for valgrind
  if (argc > 3) g_threads = std::atoi(argv[3]);
  if (only == 0 || only == 1) tight_loop();
  if (only == 0 || only == 2) distinct_stacks("1 M distinct stacks, as they come up", true);
  if (only == 0 || only == 7) distinct_stacks("1 M distinct stacks at random", false);
  if (only == 0 || only == 3) many_live();
  if (only == 0 || only == 4) several_rings("4 rings in turns", 4, 1);
  if (only == 0 || only == 5) several_rings("4 rings in bursts of 100", 4, 100);
  if (only == 0 || only == 6) several_rings("64 rings in turns", 64, 1);
}
