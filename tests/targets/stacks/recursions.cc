// tests/targets/stacks/recursions.cc: recursions that allocate at each level, on the way in and on the way back.
//
// usage: recursions direct|mutual|mixed|cycle|threads LEVELS
#include "../keep.h"

#include <pthread.h>
#include <string.h>

namespace {

constexpr size_t kInBytes = 1235;   // freed on the way back
constexpr size_t kOutBytes = 1236;  // kept

void* volatile g_passed = nullptr;

KEEP_FRAME void* pass(void* block) {
  g_passed = block;
  return block;
}

KEEP_FRAME void direct(unsigned levels) {
  void* block = pass(malloc(kInBytes));
  if (levels > 1) direct(levels - 1);
  free(block);
  keep(malloc(kOutBytes));
}

void odd(unsigned levels);
KEEP_FRAME void even(unsigned levels) {
  void* block = pass(malloc(kInBytes));
  if (levels > 1) odd(levels - 1);
  free(block);
  keep(malloc(kOutBytes));
}
KEEP_FRAME void odd(unsigned levels) {
  if (levels > 1) even(levels - 1);
  asm volatile("" ::: "memory");
}

// From one of two lines, in no order.
KEEP_FRAME void mixed(unsigned levels, unsigned random) {
  void* block = pass(malloc(kInBytes));
  const unsigned next = random * 1664525 + 1013904223;
  if (levels > 1 && (next >> 16 & 1) != 0) {
    mixed(levels - 1, next);
    asm volatile("" ::: "memory");
  } else if (levels > 1) {
    mixed(levels - 1, next);
  }
  free(block);
  keep(malloc(kOutBytes));
}

template <unsigned kAt>
KEEP_FRAME void cycle(unsigned levels) {
  constexpr unsigned kLength = 50;
  void* block = pass(malloc(kInBytes));
  if (levels > 1) cycle<(kAt + 1) % kLength>(levels - 1);
  free(block);
  keep(malloc(kOutBytes));
}

void* run_thread(void* levels) {
  direct(*static_cast<unsigned*>(levels));
  return nullptr;
}

void threads(unsigned levels) {
  constexpr size_t kStackBytes = size_t{64} << 20;
  pthread_t ids[4];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (pthread_t& id : ids) pthread_create(&id, &attributes, run_thread, &levels);
  for (pthread_t id : ids) pthread_join(id, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  const auto levels = static_cast<unsigned>(atoi(argv[2]));
  if (strcmp(argv[1], "direct") == 0) direct(levels);
  if (strcmp(argv[1], "mutual") == 0) even(levels);
  if (strcmp(argv[1], "mixed") == 0) mixed(levels, 1);
  if (strcmp(argv[1], "cycle") == 0) cycle<0>(levels);
  if (strcmp(argv[1], "threads") == 0) threads(levels);
  return 0;
}
