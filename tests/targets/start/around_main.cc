// tests/targets/start/around_main.cc: allocates before main, after it, and as its threads end. Each place has its own
// odd size.
#include "../keep.h"

#include <pthread.h>

namespace {

KEEP_FRAME void allocate_and_leak(size_t size_bytes) { keep(malloc(size_bytes)); }

struct Object {
  KEEP_FRAME Object() { block = keep(malloc(1237)); }
  KEEP_FRAME ~Object() { free(block), allocate_and_leak(1238); }
  void* block;
};
Object g_object;

struct PerThread {
  KEEP_FRAME void touch() { used = true; }
  KEEP_FRAME ~PerThread() { allocate_and_leak(1239); }
  bool used = false;
};
thread_local PerThread t_object;

pthread_key_t g_key;
KEEP_FRAME void destroy_value(void*) { allocate_and_leak(1240); }

KEEP_FRAME void at_exit() { allocate_and_leak(1241); }

KEEP_FRAME void* run_thread(void*) {
  t_object.touch();
  pthread_setspecific(g_key, &g_key);
  return nullptr;
}

}  // namespace

extern "C" [[gnu::constructor]] KEEP_FRAME void construct_early() { allocate_and_leak(1235); }
extern "C" [[gnu::destructor]] KEEP_FRAME void destruct_late() { allocate_and_leak(1236); }

int main() {
  atexit(at_exit);
  t_object.touch();
  pthread_key_create(&g_key, destroy_value);
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, run_thread, nullptr);
    pthread_join(thread, nullptr);
  }
  return 0;
}
