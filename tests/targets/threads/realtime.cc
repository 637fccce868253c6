// tests/targets/threads/realtime.cc: on one processor, threads of a real-time class wake up among ordinary threads that
// start and end, and allocate for the first time. Prints the longest time that such an allocation took, in ms.
//
// usage: realtime ROUNDS. Exit status 77: the class is not to be had.
#include "../keep.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <atomic>

namespace {

std::atomic<bool> g_is_done{false};
int64_t g_longest_ns = 0;

int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

KEEP_FRAME void* allocate(void*) {
  free(keep(malloc(1235)));
  return nullptr;
}

KEEP_FRAME void* allocate_in_time(void* round) {
  const timespec sleep{0, 200'000 + reinterpret_cast<long>(round) * 7919 % 300'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, nullptr);
  const int64_t start_ns = now_ns();
  free(keep(malloc(1236)));
  const int64_t took_ns = now_ns() - start_ns;
  if (took_ns > g_longest_ns) g_longest_ns = took_ns;
  g_is_done = true;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  cpu_set_t first;
  sched_getaffinity(0, sizeof first, &first);
  int processor = 0;
  while (!CPU_ISSET(processor, &first)) ++processor;
  CPU_ZERO(&first);
  CPU_SET(processor, &first);
  if (sched_setaffinity(0, sizeof first, &first) != 0) return 77;
  pthread_attr_t realtime;
  pthread_attr_init(&realtime);
  const sched_param priority{10};
  pthread_attr_setinheritsched(&realtime, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&realtime, SCHED_FIFO);
  pthread_attr_setschedparam(&realtime, &priority);
  for (long round = 0, rounds = atol(argv[1]); round < rounds; ++round) {
    g_is_done = false;
    pthread_t urgent;
    if (pthread_create(&urgent, &realtime, allocate_in_time, reinterpret_cast<void*>(round)) != 0) return 77;
    while (!g_is_done) {
      pthread_t ordinary;
      if (pthread_create(&ordinary, nullptr, allocate, nullptr) != 0) return 97;
      pthread_join(ordinary, nullptr);
    }
    pthread_join(urgent, nullptr);
  }
  printf("%ld\n", static_cast<long>(g_longest_ns / 1'000'000));
  return 0;
}
