// tests/targets/threads/odd_threads.cc: threads as some programs have them.
//
// usage: odd_threads waves THREADS WAVES      all of a wave live at once; the next begins when the last has ended
//        odd_threads cancelled THREADS        each is cancelled while it waits, with clean-up handlers and destructors
//                                             that allocate
//        odd_threads small_stacks THREADS     16 KiB of stack, of which each may use what a hook leaves
// Each thread keeps one block of 1235 bytes and frees one of 1237; a clean-up frees one of 1239, a destructor makes one
// of 1241.
#include "../keep.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

KEEP_FRAME void* allocate_kept() { return keep(malloc(1235)); }
KEEP_FRAME void* allocate_freed() { return keep(malloc(1237)); }
KEEP_FRAME void* allocate_for_cleanup() { return keep(malloc(1239)); }
KEEP_FRAME void* allocate_in_destructor() { return keep(malloc(1241)); }

static pthread_barrier_t g_all_there;
static int g_words[2];
static bool g_waits_for_cancel;

struct AllocatesAtEnd {
  KEEP_FRAME ~AllocatesAtEnd() { free(allocate_in_destructor()); }
};

static void clean_up(void* block) { free(block); }

KEEP_FRAME static void wait_for_ever() {
  AllocatesAtEnd guard;
  keep(&guard);
  pthread_cleanup_push(clean_up, allocate_for_cleanup());
  (void)!write(g_words[1], "x", 1);
  for (;;) pause();
  pthread_cleanup_pop(0);
}

KEEP_FRAME static void use_stack(unsigned bytes) {  // goes as deep as the thread's stack allows beside a hook
  char space[256];
  memset(keep(space), 1, sizeof space);
  if (bytes > sizeof space) use_stack(bytes - static_cast<unsigned>(sizeof space));
  free(allocate_freed());
  keep(space);
}

static void* run_thread(void* argument) {
  allocate_kept();
  if (g_waits_for_cancel) wait_for_ever();
  if (argument != nullptr) {
    use_stack(1024);
  } else {
    free(allocate_freed());
  }
  pthread_barrier_wait(&g_all_there);
  return nullptr;
}

static bool run_wave(unsigned threads, size_t stack_bytes, void* argument) {
  pthread_t ids[1024];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_barrier_init(&g_all_there, nullptr, threads);
  for (unsigned i = 0; i < threads; ++i) {
    if (pthread_create(&ids[i], &attributes, run_thread, argument) != 0) return false;
  }
  if (g_waits_for_cancel) {
    char byte;
    for (unsigned i = 0; i < threads; ++i) (void)!read(g_words[0], &byte, 1);
    for (unsigned i = 0; i < threads; ++i) pthread_cancel(ids[i]);
  }
  for (unsigned i = 0; i < threads; ++i) {
    void* result;
    pthread_join(ids[i], &result);
    if ((result == PTHREAD_CANCELED) != g_waits_for_cancel) return false;
  }
  return pthread_barrier_destroy(&g_all_there) == 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 98;
  const auto threads = static_cast<unsigned>(atoi(argv[2]));
  if (threads == 0 || threads > 1024) return 98;
  if (strcmp(argv[1], "cancelled") == 0) {
    g_waits_for_cancel = true;
    if (pipe(g_words) != 0) return 97;
    return run_wave(threads, 256 << 10, nullptr) ? 0 : 96;
  }
  if (strcmp(argv[1], "small_stacks") == 0) return run_wave(threads, PTHREAD_STACK_MIN, argv) ? 0 : 96;
  for (int wave = 0; wave < atoi(argv[3]); ++wave) {
    if (!run_wave(threads, 64 << 10, nullptr)) return 96;
  }
  return 0;
}
