// tests/targets/threads/threads_at_once.cc: many threads that are all alive together, each with blocks that the next
// thread frees.
//
// usage: threads_at_once THREADS BLOCKS
#include "../keep.h"

#include <pthread.h>

constexpr int kMaxThreads = 10'000;
static void** g_blocks[kMaxThreads];
static int g_threads, g_count;
static pthread_barrier_t g_barrier;

KEEP_FRAME void* allocate_block() { return keep(malloc(1235)); }
KEEP_FRAME void** allocate_table() {
  return static_cast<void**>(keep(malloc(sizeof(void*) * static_cast<size_t>(g_count))));
}

KEEP_FRAME void* run_thread(void* argument) {
  auto self = static_cast<int>(reinterpret_cast<intptr_t>(argument));
  g_blocks[self] = allocate_table();
  for (int i = 0; i < g_count; ++i) g_blocks[self][i] = allocate_block();
  pthread_barrier_wait(&g_barrier);
  void** theirs = g_blocks[(self + 1) % g_threads];
  for (int i = 1; i < g_count; ++i) free(theirs[i]);  // the first of each leaks
  free(theirs);
  return nullptr;
}

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  g_threads = atoi(argv[1]);
  g_count = atoi(argv[2]);
  if (g_threads > kMaxThreads) return 97;
  pthread_barrier_init(&g_barrier, nullptr, static_cast<unsigned>(g_threads));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  static pthread_t threads[kMaxThreads];
  for (intptr_t i = 0; i < g_threads; ++i) {
    if (pthread_create(&threads[i], &attributes, run_thread, reinterpret_cast<void*>(i)) != 0) return 96;
  }
  for (int i = 0; i < g_threads; ++i) pthread_join(threads[i], nullptr);
  return 0;
}
