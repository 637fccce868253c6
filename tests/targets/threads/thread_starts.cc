// tests/targets/threads/thread_starts.cc: allocates in threads started by pthread_create, std::thread, clone with a
// stack of 16 KiB.
#include "../keep.h"

#include <limits.h>
#include <pthread.h>

#include <thread>

KEEP_FRAME void allocate_in_thread(size_t size_bytes) { keep(malloc(size_bytes)); }

extern "C" KEEP_FRAME void* posix_start(void*) {
  allocate_in_thread(1235);
  return nullptr;
}

KEEP_FRAME void cxx_start(size_t size_bytes) { allocate_in_thread(size_bytes); }

extern "C" KEEP_FRAME void* small_start(void*) {
  allocate_in_thread(1239);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, posix_start, nullptr);
  pthread_join(thread, nullptr);
  std::thread(cxx_start, 1237).join();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  if (pthread_create(&thread, &attributes, small_start, nullptr) != 0) return 97;
  pthread_join(thread, nullptr);
  return 0;
}
