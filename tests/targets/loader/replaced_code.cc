// tests/targets/loader/replaced_code.cc: code that nothing describes, and then a library with the very same code at the
// very same address. usage: replaced_code LIBRARY (plugins/calls_through.cc)
//
// A thread calls through the one and then through the other, from one place, while the main thread changes them: 100
// blocks of 1235 bytes each. The library also calls while it is being loaded, where no table has it yet: the main
// thread calls the same lines afterwards, 100 times for each of five loads.
#include "../keep.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

using Callee = void (*)();
using Through = void (*)(Callee);

// Called by the library, while it is loaded.
extern "C" __attribute__((visibility("default"))) KEEP_FRAME void allocate_early() { keep(malloc(1237)); }

namespace {

constexpr uint64_t kPageBytes = 4096;

KEEP_FRAME void allocate() { keep(malloc(1235)); }
KEEP_FRAME void allocate_late() { keep(malloc(1239)); }

Through g_through;
pthread_barrier_t g_barrier;

KEEP_FRAME void* call_both(void*) {
  for (int round = 0; round < 2; ++round) {
    pthread_barrier_wait(&g_barrier);
    for (int i = 0; i < 100; ++i) g_through(allocate);
    pthread_barrier_wait(&g_barrier);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) return 3;
  g_through = reinterpret_cast<Through>(dlsym(library, "call_through"));
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<uint64_t>(g_through) & ~(kPageBytes - 1));
  static unsigned char copy[kPageBytes];
  std::memcpy(copy, page, kPageBytes);
  dlclose(library);
  void* code = mmap(page, kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (code != page) return 4;
  std::memcpy(code, copy, kPageBytes);

  pthread_t thread;
  pthread_barrier_init(&g_barrier, nullptr, 2);
  if (pthread_create(&thread, nullptr, call_both, nullptr) != 0) return 5;
  pthread_barrier_wait(&g_barrier);
  pthread_barrier_wait(&g_barrier);
  munmap(code, kPageBytes);
  library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) return 6;
  std::puts(dlsym(library, "call_through") == reinterpret_cast<void*>(g_through) ? "same" : "moved");
  g_through = reinterpret_cast<Through>(dlsym(library, "call_through"));
  pthread_barrier_wait(&g_barrier);
  pthread_barrier_wait(&g_barrier);
  pthread_join(thread, nullptr);
  // Again, as the loader's tables grow at some loads and not at others.
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i) g_through(allocate_late);
    dlclose(library);
    library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) return 7;
    g_through = reinterpret_cast<Through>(dlsym(library, "call_through"));
  }
  return 0;
}
