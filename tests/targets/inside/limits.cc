// tests/targets/inside/limits.cc: limits in a program without a test framework.
//
//   limits within        nothing is over; says "done"
//   limits over          a peak of 3 MiB where 2 MiB are allowed, without a handler
//   limits nested        limits within limits, of which some are broken; says which, by need and found
//   limits threads N R   N threads with R rounds of limits at once, each held against what the thread did itself
//   limits child         a forked child with limits of its own
//   limits cuda          memory of the fake driver: limits of cuda:0, of which one is broken, beside one of the host
#include "../cuda/cuda_client.h"

#include <heapprof/heapprof.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <thread>
#include <vector>

namespace {

void* volatile g_block = nullptr;
std::atomic<int> g_wrong{0};

void say(const heapprof::LimitFailure& failure) {
  std::printf("need %llu found %llu\n", static_cast<unsigned long long>(failure.need),
              static_cast<unsigned long long>(failure.found));
}

void count(const heapprof::LimitFailure& failure) {
  if (g_wrong++ < 10) std::fputs(failure.message().c_str(), stderr);
}

void take(size_t bytes) {
  g_block = std::malloc(bytes);
  std::free(g_block);
}

void within() {
  HEAPPROF_REQUIRE_MAX_PEAK("2 MiB");
  HEAPPROF_REQUIRE_MAX_BYTES("4MiB");
  HEAPPROF_REQUIRE_MAX_ALLOCATIONS(2);
  HEAPPROF_REQUIRE_NO_LEAKS();
  HEAPPROF_REQUIRE_MAX_PEAK("40960", "mapped");
  HEAPPROF_REQUIRE(use.peak_bytes == 2 << 20 && use.total_blocks == 2);
  take(2 << 20);
  take(2 << 20);
  void* const pages = mmap(nullptr, 40960, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages, 40960);
  HEAPPROF_REQUIRE_NO_ALLOCATIONS();
  static volatile int sum = 0;
  for (int i = 0; i < 100; ++i) sum = sum + i;
}

void over() {
  HEAPPROF_REQUIRE_MAX_PEAK("2 MiB");
  take(3 << 20);
}

void nested() {
  heapprof::set_limit_handler(say);
  take(20'000'000);                       // before: no limit's
  HEAPPROF_REQUIRE_MAX_PEAK(10'000'000);  // within: 9,000,000
  HEAPPROF_REQUIRE_MAX_PEAK(8'999'999);   // over
  void* const kept = std::malloc(5'000'000);
  {
    HEAPPROF_REQUIRE_MAX_PEAK(3'999'999);  // over: 4,000,000 above what is kept
    HEAPPROF_REQUIRE_MAX_PEAK(4'000'000);  // within
    HEAPPROF_REQUIRE_MAX_ALLOCATIONS(0);   // over: 1
    take(4'000'000);
    {
      HEAPPROF_REQUIRE_MAX_PEAK(10);  // within: what was before is not its own
    }
    heapprof::begin_phase();
  }
  HEAPPROF_REQUIRE_MAX_LEAKED(0);  // within: less is live than at its begin
  std::free(kept);
}

void race(size_t count_of_threads, int rounds) {
  heapprof::set_limit_handler(count);
  std::vector<std::thread> threads;
  std::latch all_made(static_cast<ptrdiff_t>(count_of_threads));  // what makes a thread is in no limit's peak
  for (size_t i = 0; i < count_of_threads; ++i) {
    threads.emplace_back([i, rounds, count_of_threads, &all_made] {
      all_made.arrive_and_wait();
      const uint64_t most = 1000 * count_of_threads * (count_of_threads + 1) / 2;
      for (int round = 0; round < rounds; ++round) {
        heapprof::Limit own(heapprof::LimitKind::kThreadAllocations, "own", __FILE__, __LINE__,
                            heapprof::detail::at_most(7));
        HEAPPROF_REQUIRE(use.peak_bytes <= most);
        HEAPPROF_REQUIRE(use.total_bytes >= 7000 * (i + 1));
        for (int k = 0; k < 7; ++k) {
          void* volatile block = std::malloc(1000 * (i + 1));
          std::free(block);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (g_wrong != 0) _exit(1);
}

void child() {
  heapprof::set_limit_handler(count);
  HEAPPROF_REQUIRE_MAX_PEAK("1MiB");
  const pid_t pid = fork();
  if (pid == 0) {
    g_block = std::malloc(2 << 20);
    {
      HEAPPROF_REQUIRE_MAX_PEAK(5000);
      take(5000);
    }
    _exit(g_wrong);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) _exit(1);
}

void device() {
  if (!load_cuda()) _exit(77);
  CUcontext context = nullptr;
  EXPECT(cuda.cuInit(0) == kSuccess && cuda.cuCtxCreate_v2(&context, 0, 0) == kSuccess);
  heapprof::set_limit_handler(say);
  HEAPPROF_REQUIRE_MAX_PEAK("4MiB", "cuda:0");  // within
  HEAPPROF_REQUIRE_MAX_PEAK("3MiB", "cuda:0");  // over
  HEAPPROF_REQUIRE_NO_LEAKS("cuda:0");          // over: 1 MiB stays
  HEAPPROF_REQUIRE_MAX_PEAK("1MiB");            // within: the host's
  HEAPPROF_REQUIRE_MAX_ALLOCATIONS(0, "cuda:1");
  HEAPPROF_REQUIRE_ON("cuda:0", use.total_bytes == 4 << 20 && use.total_blocks == 2);
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  EXPECT(cuda.cuMemAlloc_v2(&first, 3 << 20) == kSuccess && cuda.cuMemAlloc_v2(&second, 1 << 20) == kSuccess);
  EXPECT(cuda.cuMemFree_v2(first) == kSuccess);
  if (failures != 0) _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "within") == 0) within();
  if (std::strcmp(what, "over") == 0) over();
  if (std::strcmp(what, "nested") == 0) nested();
  if (std::strcmp(what, "threads") == 0 && argc > 3) race(std::strtoul(argv[2], nullptr, 10), std::atoi(argv[3]));
  if (std::strcmp(what, "child") == 0) child();
  if (std::strcmp(what, "cuda") == 0) device();
  if (g_wrong != 0) return 1;
  std::puts("done");
  return 0;
}
