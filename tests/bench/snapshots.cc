// tests/bench/snapshots.cc: what a snapshot costs the collector, by sites and live blocks: the first one, later ones
// after some of the sites have changed, and one for which the whole heap has to be looked at. Prints a table; asserts
// nothing.
//
//   bench_snapshots SITES BLOCKS SNAPSHOTS PERCENT     PERCENT: of the sites change between two snapshots
#include "cli/base/clock.h"
#include "cli/collect/books/ledger.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

int main(int count, char** arguments) {
  using namespace heapprof::cli;
  if (count < 5) return 2;
  const auto sites = static_cast<uint32_t>(std::atol(arguments[1]));
  const auto blocks = static_cast<uint64_t>(std::atol(arguments[2]));
  const int snapshots = std::atoi(arguments[3]);
  const auto percent = static_cast<uint64_t>(std::atol(arguments[4]));
  ThreadTable threads;
  threads.enter(100);
  Ledger ledger(&threads, Ledger::TimeSource::kStamps);
  ledger.grow_sites(sites + 1);
  ledger.start(0);
  ledger.start_snapshots();
  std::mt19937_64 random(1);
  uint64_t stamp = 0;
  const auto allocate = [&](uint64_t i, uint64_t size_bytes) {
    ledger.apply(Event{++stamp, (i + 1) * 64, size_bytes, static_cast<uint32_t>(i % sites) + 1,
                       pack_thread(1, EventKind::kMalloc)},
                 0);
  };
  const auto release = [&](uint64_t i) {
    ledger.apply(Event{++stamp, (i + 1) * 64, 0, 0, pack_thread(1, EventKind::kFree)}, 0);
  };
  std::vector<uint64_t> sizes(blocks);
  const uint64_t begin_ns = monotonic_ns();
  for (uint64_t i = 0; i < blocks; ++i) allocate(i, sizes[i] = random() % 50'000);
  std::printf("%.1f ns for each block made\n",
              static_cast<double>(monotonic_ns() - begin_ns) / static_cast<double>(blocks));
  std::vector<double> took_ms;
  const auto take = [&] {
    const uint64_t before_ns = monotonic_ns();
    ledger.take_snapshot({stamp, false, 0, 0, {}});
    took_ms.push_back(static_cast<double>(monotonic_ns() - before_ns) / 1e6);
  };
  take();
  std::printf("first     %8.3f ms\n", took_ms[0]);
  took_ms.clear();
  for (int i = 0; i < snapshots; ++i) {
    for (uint64_t k = 0; k < blocks; ++k) {
      if (k >= sites || random() % 100 >= percent) continue;
      release(k);
      allocate(k, sizes[k] = random() % 50'000);
    }
    take();
  }
  std::sort(took_ms.begin(), took_ms.end());
  std::printf("later     %8.3f ms in the middle, %.3f ms at most\n", took_ms[took_ms.size() / 2], took_ms.back());
  for (uint64_t k = 0; k < blocks; ++k) {
    if (sizes[k] > 49'000) release(k), allocate(k, 1);
  }
  took_ms.clear();
  take();
  std::printf("scan      %8.3f ms\n", took_ms[0]);
  const SnapshotBook& book = ledger.snapshots();
  std::printf("kept %zu, thinned %lu, lost %lu, %.1f MiB, %lu steps, %.1f B a step\n", book.snapshots().size(),
              book.thinned(), book.lost(), static_cast<double>(book.bytes()) / 1048576, book.steps(),
              static_cast<double>(book.bytes() - 16 * sites) / static_cast<double>(book.steps()));
  return 0;
}
