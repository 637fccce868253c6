// tests/targets/inside/statistics.cc: a program that keeps books of its own, and holds what the profiler answers
// against them, to the byte.
//
//   statistics alone            one thread: each kind of call, phases, devices, errno
//   statistics threads N R      N threads, R rounds: at barriers all numbers are known, and all threads ask at once
//   statistics free N R         the same while others allocate: what is asked lies within what is certain
//   statistics absent           without a profiler
#include <errno.h>
#include <heapprof/heapprof.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

std::atomic<int> g_wrong{0};

void expect(const char* what, uint64_t got, uint64_t want, int line) {
  if (got == want) return;
  if (g_wrong++ < 20)
    std::fprintf(stderr, "line %d: %s: got %llu, want %llu\n", line, what, static_cast<unsigned long long>(got),
                 static_cast<unsigned long long>(want));
}
#define EXPECT(got, want) expect(#got, static_cast<uint64_t>(got), static_cast<uint64_t>(want), __LINE__)

heapprof_stats stats(const char* device = "host") {
  heapprof_stats result{};
  EXPECT(heapprof_get_stats(device, &result), HEAPPROF_OK);
  return result;
}

void alone() {
  EXPECT(heapprof_is_active(), 1);
  heapprof_stats before = stats();
  heapprof_thread_stats mine_before{};
  EXPECT(heapprof_get_thread_stats(&mine_before), HEAPPROF_OK);
  EXPECT(before.total_bytes, mine_before.total_bytes);  // there is no other thread
  char* block = static_cast<char*>(std::malloc(1235));
  heapprof_stats after = stats();
  EXPECT(after.live_bytes - before.live_bytes, 1235);
  EXPECT(after.live_blocks - before.live_blocks, 1);
  EXPECT(after.total_bytes - before.total_bytes, 1235);
  EXPECT(after.total_blocks - before.total_blocks, 1);
  block = static_cast<char*>(std::realloc(block, 5000));
  after = stats();
  EXPECT(after.live_bytes - before.live_bytes, 5000);
  EXPECT(after.live_blocks - before.live_blocks, 1);
  EXPECT(after.total_bytes - before.total_bytes, 6235);
  EXPECT(after.total_blocks - before.total_blocks, 2);
  std::free(block);
  after = stats(nullptr);
  EXPECT(after.live_bytes, before.live_bytes);
  EXPECT(after.live_blocks, before.live_blocks);
  heapprof_thread_stats mine{};
  EXPECT(heapprof_get_thread_stats(&mine), HEAPPROF_OK);
  EXPECT(mine.total_bytes - mine_before.total_bytes, 6235);
  EXPECT(mine.freed_blocks - mine_before.freed_blocks, 1);

  // A peak of the whole run, and smaller ones of phases.
  std::free(std::malloc(10'000'000));
  const heapprof_stats whole = stats();
  EXPECT(whole.peak_bytes, before.live_bytes + 10'000'000);
  EXPECT(whole.phase_peak_bytes, whole.peak_bytes);
  EXPECT(whole.phase_peak_blocks, whole.peak_blocks);
  EXPECT(heapprof_begin_phase("host", &after), HEAPPROF_OK);
  EXPECT(after.phase_peak_bytes, whole.peak_bytes);  // of the phase that ends
  EXPECT(stats().phase_peak_bytes, before.live_bytes);
  for (const size_t bytes : {3000, 200'000, 70}) std::free(std::malloc(bytes));
  after = stats();
  EXPECT(after.phase_peak_bytes, before.live_bytes + 200'000);
  EXPECT(after.phase_peak_blocks, before.live_blocks + 1);
  EXPECT(after.peak_bytes, whole.peak_bytes);
  EXPECT(heapprof_begin_phase("host", nullptr), HEAPPROF_OK);
  std::free(std::malloc(20'000'000));  // a phase's peak may be the run's
  after = stats();
  EXPECT(after.phase_peak_bytes, before.live_bytes + 20'000'000);
  EXPECT(after.peak_bytes, before.live_bytes + 20'000'000);
  EXPECT(heapprof_begin_phase("host", nullptr), HEAPPROF_OK);
  EXPECT(stats().phase_peak_bytes, before.live_bytes);

  const heapprof_stats mapped = stats("mapped");
  void* pages = mmap(nullptr, 40960, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(stats("mapped").live_bytes - mapped.live_bytes, 40960);
  munmap(pages, 40960);
  EXPECT(stats("mapped").live_bytes, mapped.live_bytes);
  EXPECT(stats("mapped").total_bytes - mapped.total_bytes, 40960);
  EXPECT(stats("cuda:0").total_blocks, 0);
  heapprof_stats untouched{};
  untouched.live_bytes = 7;
  for (const char* name : {"cuda:240", "cuda:-1", "cuda:", "cuda:0 ", "", "heap", "cuda:?x",
                           "a name that is much longer than any name of a device, and even than its place"})
    EXPECT(heapprof_get_stats(name, &untouched), HEAPPROF_UNKNOWN_DEVICE);
  EXPECT(untouched.live_bytes, 7);
  errno = 4711;
  stats();
  EXPECT(errno, 4711);
  const uint64_t blocks = stats().total_blocks;
  heapprof_scope scope;
  heapprof_name name = {"no category", "met for the first time", 0};
  for (int again = 0; again < 2; ++again) {
    heapprof_scope_begin(&scope, &name);
    scope.items = 3;
    heapprof_scope_leave(&scope);
    heapprof_scope_enter(&scope);
    heapprof_scope_end(&scope);
    heapprof_mark(&name);
    EXPECT(errno, 4711);
  }
  EXPECT(stats().total_blocks, blocks);  // nothing of it allocates
}

// A generator of one thread's own.
struct Random {
  uint64_t state;
  uint64_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }
};

struct Books {
  alignas(64) std::atomic<uint64_t> begun_bytes{0};  // asked for
  std::atomic<uint64_t> total_bytes{0};              // given
  std::atomic<uint64_t> total_blocks{0};
  std::atomic<uint64_t> freed_bytes{0};
  std::atomic<uint64_t> freed_blocks{0};
};

constexpr size_t kHeld = 64;

struct Worker {
  Books books;
  Random random{};
  void* held[kHeld] = {};
  size_t sizes[kHeld] = {};
  heapprof_thread_stats before{};

  void step() {
    const size_t at = random.next() % kHeld;
    if (held[at] != nullptr) {
      std::free(held[at]);
      held[at] = nullptr;
      books.freed_bytes += sizes[at];
      ++books.freed_blocks;
      return;
    }
    sizes[at] = 1 + random.next() % 3000;
    books.begun_bytes += sizes[at];
    held[at] = std::malloc(sizes[at]);
    books.total_bytes += sizes[at];
    ++books.total_blocks;
  }
};

void check_at_barriers(std::vector<Worker>* workers, int rounds) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(workers->size() + 1));
  heapprof_stats start{};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < workers->size(); ++i) {
    threads.emplace_back([&, i] {
      Worker& worker = (*workers)[i];
      worker.random.state = i * 7919 + 1;
      std::free(std::malloc(1));  // the thread has its ring
      EXPECT(heapprof_get_thread_stats(&worker.before), HEAPPROF_OK);
      pthread_barrier_wait(&barrier);  // all are there: the start is taken
      pthread_barrier_wait(&barrier);
      for (int round = 0; round < rounds; ++round) {
        for (uint64_t steps = worker.random.next() % 400; steps != 0; --steps) worker.step();
        pthread_barrier_wait(&barrier);
        heapprof_thread_stats now{};
        EXPECT(heapprof_get_thread_stats(&now), HEAPPROF_OK);
        EXPECT(now.total_bytes - worker.before.total_bytes, worker.books.total_bytes);
        EXPECT(now.total_blocks - worker.before.total_blocks, worker.books.total_blocks);
        EXPECT(now.freed_blocks - worker.before.freed_blocks, worker.books.freed_blocks);
        pthread_barrier_wait(&barrier);
      }
    });
  }
  pthread_barrier_wait(&barrier);
  start = stats();
  pthread_barrier_wait(&barrier);
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&barrier);
    const heapprof_stats now = stats();
    Books sum;
    for (const Worker& worker : *workers) {
      sum.total_bytes += worker.books.total_bytes;
      sum.total_blocks += worker.books.total_blocks;
      sum.freed_bytes += worker.books.freed_bytes;
      sum.freed_blocks += worker.books.freed_blocks;
    }
    EXPECT(now.total_bytes - start.total_bytes, sum.total_bytes);
    EXPECT(now.total_blocks - start.total_blocks, sum.total_blocks);
    EXPECT(now.live_bytes - start.live_bytes, sum.total_bytes - sum.freed_bytes);
    EXPECT(now.live_blocks - start.live_blocks, sum.total_blocks - sum.freed_blocks);
    pthread_barrier_wait(&barrier);
  }
  for (std::thread& thread : threads) thread.join();
}

// What was given before the question is in the answer; nothing is that was asked for behind it.
void check_running(std::vector<Worker>* workers, int rounds) {
  std::atomic<bool> is_over{false};
  std::atomic<size_t> ready{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < workers->size(); ++i) {
    threads.emplace_back([&, i] {
      Worker& worker = (*workers)[i];
      worker.random.state = i * 7919 + 1;
      std::free(std::malloc(1));
      ++ready;
      while (!is_over) worker.step();
    });
  }
  while (ready != workers->size()) std::this_thread::yield();
  const auto sum = [&](std::atomic<uint64_t> Books::*number) {
    uint64_t all = 0;
    for (Worker& worker : *workers) all += worker.books.*number;
    return all;
  };
  uint64_t other_bytes = UINT64_MAX;  // of this thread, and from before: as little as any answer leaves room for
  uint64_t least_other_bytes = 0;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t given = sum(&Books::total_bytes);
    const heapprof_stats now = stats();
    const uint64_t begun = sum(&Books::begun_bytes);
    other_bytes = std::min(other_bytes, now.total_bytes - given);
    least_other_bytes = std::max(least_other_bytes, now.total_bytes > begun ? now.total_bytes - begun : 0);
  }
  if (least_other_bytes > other_bytes) EXPECT(least_other_bytes, other_bytes);
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

void absent() {
  heapprof_stats stats{};
  heapprof_thread_stats mine{};
  EXPECT(heapprof_is_active(), 0);
  EXPECT(heapprof_version() == nullptr, 1);
  EXPECT(heapprof_get_stats("host", &stats), HEAPPROF_INACTIVE);
  EXPECT(heapprof_begin_phase(nullptr, &stats), HEAPPROF_INACTIVE);
  EXPECT(heapprof_get_thread_stats(&mine), HEAPPROF_INACTIVE);
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const size_t count = argc > 3 ? std::strtoul(argv[2], nullptr, 10) : 0;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 0;
  std::vector<Worker> workers(count);
  if (std::strcmp(what, "alone") == 0) alone();
  if (std::strcmp(what, "threads") == 0) check_at_barriers(&workers, rounds);
  if (std::strcmp(what, "free") == 0) check_running(&workers, rounds);
  if (std::strcmp(what, "absent") == 0) absent();
  if (g_wrong != 0) return 1;
  std::puts("as in the books");
  return 0;
}
