// tests/targets/threads/threads_at_rest.cc: threads that allocate busily all at once, and then rest.
// usage: threads_at_rest THREADS PAIRS     prints MOST RESTING: resident KiB of the process while it was busy, and at
//                                          rest
//
// Every thread stays alive while it rests, so that its memory is still its own. What the program itself holds is the
// same in every run: a thread has kLive blocks, and stacks of several depths.
#include "../keep.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

KEEP_FRAME void* allocate_at(int depth) { return keep(depth > 0 ? allocate_at(depth - 1) : malloc(48)); }

namespace {

constexpr int kLive = 64;
constexpr int kDepths = 12;
constexpr int kCalm = 100;    // equal looks that make a rest
constexpr int kLooks = 1000;  // at most
constexpr useconds_t kLookUs = 25'000;

std::atomic<int> g_busy;
std::atomic<bool> g_ends;

long resident_kib() {
  char text[4096];
  FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
  long kib = 0;
  while (file != nullptr && std::fgets(text, sizeof text, file) != nullptr) {
    if (std::sscanf(text, "Rss: %ld kB", &kib) == 1) break;
  }
  if (file != nullptr) std::fclose(file);
  return kib;
}

void work(long pairs) {
  void* live[kLive] = {};
  for (long i = 0; i < pairs; ++i) {
    void*& slot = live[i % kLive];
    free(slot);
    slot = allocate_at(static_cast<int>(i % kDepths));
  }
  --g_busy;
  while (!g_ends) usleep(kLookUs);
  for (void* block : live) free(block);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int count = atoi(argv[1]);
  const long pairs = atol(argv[2]);
  g_busy = count;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, pairs);
  long most = 0;
  while (g_busy != 0) {
    const long now = resident_kib();
    if (now > most) most = now;
    usleep(kLookUs / 5);
  }
  long resting = resident_kib();
  for (int looks = 0, equal = 0; looks < kLooks && equal < kCalm; ++looks) {
    usleep(kLookUs);
    const long now = resident_kib();
    equal = now == resting ? equal + 1 : 0;
    resting = now;
  }
  std::printf("%ld %ld\n", most > resting ? most : resting, resting);
  g_ends = true;
  for (std::thread& thread : threads) thread.join();
}
