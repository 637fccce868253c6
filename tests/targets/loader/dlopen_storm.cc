// tests/targets/loader/dlopen_storm.cc: loads and unloads libraries while threads allocate; and libraries until the
// loader has no more room.
//
// usage: dlopen_storm storm ALPHA BETA TIMES THREADS   each time: load both, a block of each, unload. The threads
// allocate meanwhile
//        dlopen_storm static_tls FOLDER                loads FOLDER/0.so, 1.so … until one is refused; prints how many
//                                                      it got
// Blocks of 1235 (alpha), 1237 (beta, freed) and 1239 bytes (threads, freed). Prints how many the threads made.
#include "../keep.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <atomic>

using Allocate = void* (*)(size_t);

static std::atomic<bool> g_stop{false};
static std::atomic<uint64_t> g_made{0};

KEEP_FRAME void* allocate_in_thread() { return keep(malloc(1239)); }

static void* run_thread(void*) {
  uint64_t made = 0;
  while (!g_stop.load(std::memory_order_relaxed)) {
    free(allocate_in_thread());
    ++made;
  }
  g_made.fetch_add(made);
  return nullptr;
}

KEEP_FRAME static void* use_library(const char* path, const char* function, size_t size_bytes) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) exit(97);
  auto allocate = reinterpret_cast<Allocate>(dlsym(library, function));
  void* block = allocate(size_bytes);
  dlclose(library);
  return block;
}

static int storm(char** argv) {
  pthread_t threads[64];
  const int count = atoi(argv[5]);
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], nullptr, run_thread, nullptr) != 0) return 96;
  }
  for (int i = 0; i < atoi(argv[4]); ++i) {
    use_library(argv[2], "alpha_allocate", 1235);
    free(use_library(argv[3], "beta_allocate", 1237));
  }
  g_stop.store(true);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], nullptr);
  printf("%lu\n", g_made.load());
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 6 && strcmp(argv[1], "storm") == 0) return storm(argv);
  if (argc != 3) return 98;
  int loaded = 0;
  for (;; ++loaded) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.so", argv[2], loaded);
    if (dlopen(path, RTLD_NOW) == nullptr) break;
  }
  for (int i = 0; i < 1000; ++i) free(allocate_in_thread());
  printf("%d\n", loaded);
  return 0;
}
