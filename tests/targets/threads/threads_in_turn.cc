// tests/targets/threads/threads_in_turn.cc: one thread after another, each allocates once; two of three blocks are
// freed by main.
//
// usage: threads_in_turn THREADS
#include "../keep.h"

#include <pthread.h>

KEEP_FRAME void* allocate_block(void*) { return keep(malloc(1235)); }

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32 << 10);
  for (long i = 0, count = atol(argv[1]); i < count; ++i) {
    pthread_t thread;
    void* block = nullptr;
    if (pthread_create(&thread, &attributes, allocate_block, nullptr) != 0) return 97;
    pthread_join(thread, &block);
    if (i % 3 != 0) free(block);
  }
  return 0;
}
