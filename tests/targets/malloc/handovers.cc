// tests/targets/malloc/handovers.cc: pairs of threads hand blocks over as fast as two cores can, each side allocating
// and freeing.
//
// usage: handovers PAIRS COUNT      COUNT blocks go each way in each pair
// A block is freed by the other thread within nanoseconds of its malloc: the hardest order of stamps for a collector.
#include "../keep.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>

struct alignas(128) Slot {
  std::atomic<void*> block{nullptr};
};

struct Side {
  Slot* give;
  Slot* take;
  long count;
};

KEEP_FRAME void* allocate_block() { return keep(malloc(1235)); }

static void* run_side(void* argument) {
  const Side* side = static_cast<Side*>(argument);
  long given = 0, taken = 0;
  unsigned idle = 0;
  while (given < side->count || taken < side->count) {
    bool moved = false;
    if (given < side->count && side->give->block.load(std::memory_order_relaxed) == nullptr) {
      side->give->block.store(allocate_block(), std::memory_order_release);
      ++given;
      moved = true;
    }
    if (void* block = side->take->block.load(std::memory_order_acquire); block != nullptr) {
      side->take->block.store(nullptr, std::memory_order_relaxed);
      free(block);
      ++taken;
      moved = true;
    }
    idle = moved ? 0 : idle + 1;
    if (idle > 100) sched_yield();
  }
  return nullptr;
}

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  int pairs = atoi(argv[1]);
  if (pairs < 1 || pairs > 100) return 97;
  static Slot slots[200];
  static Side sides[200];
  static pthread_t threads[200];
  for (int i = 0; i < 2 * pairs; ++i) sides[i] = {&slots[i], &slots[i ^ 1], atol(argv[2])};
  for (int i = 0; i < 2 * pairs; ++i) {
    if (pthread_create(&threads[i], nullptr, run_side, &sides[i]) != 0) return 96;
  }
  for (int i = 0; i < 2 * pairs; ++i) pthread_join(threads[i], nullptr);
  return 0;
}
