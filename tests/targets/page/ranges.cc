// tests/targets/page/ranges.cc: a program with its own books of what each of its functions allocated between two of its
// marks and still has at the later one.
//
//   ranges SEED THREADS MARKS HOW BOOKS
//
// Between two marks all threads allocate, free and resize blocks; then they meet, and one of them makes the mark m1, m2
// … while the others wait. HOW is exit, or KILL: by that signal, behind the last mark, when BOOKS is written. BOOKS is
// JSON: {"functions": […], "ranges": [{"from": "m1", "to": "m2", "bytes": {"take_0": 1235, …}}, …]}; null is the start
// or the end.
#include <heapprof/heapprof.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t kFunctions = 4;
constexpr size_t kSlots = 1024;      // of a thread
constexpr size_t kOperations = 500;  // of a thread between two marks: some blocks live across several
constexpr size_t kMostThreads = 16;
constexpr size_t kMostMarks = 24;

#define TAKER(number)                                                   \
  [[gnu::noinline]] void* take_##number(void* old, size_t size_bytes) { \
    void* block = std::realloc(old, size_bytes);                        \
    asm volatile("" : : "r"(block) : "memory");                         \
    return block;                                                       \
  }
TAKER(0)
TAKER(1)
TAKER(2)
TAKER(3)
#undef TAKER
constexpr std::array<void* (*)(void*, size_t), kFunctions> kTakers = {take_0, take_1, take_2, take_3};

struct Held {
  void* block;
  uint64_t size_bytes;
  uint32_t function;
  uint32_t epoch;  // marks that were made before it began
};
Held g_held[kMostThreads][kSlots];
uint64_t g_books[kMostMarks + 2][kMostMarks + 2][kFunctions];  // from, to: numbers of marks; 0 is the start
size_t g_threads = 1;
size_t g_marks = 8;
uint64_t g_seed = 1;
pthread_barrier_t g_all;
char g_texts[kMostMarks + 1][8];
heapprof_name g_names[kMostMarks + 1];

uint64_t next(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// For some milliseconds, so that bounds by time lie in between.
void work(size_t thread, uint32_t epoch, uint64_t* state) {
  const uint64_t begin_ns = now_ns();
  for (size_t i = 0; i < kOperations; ++i) {
    while (now_ns() < begin_ns + 6'000 * i) {
    }
    const uint64_t chance = next(state);
    Held& held = g_held[thread][chance % kSlots];
    const uint64_t size_bytes = 1 + 2 * (next(state) % 3000);
    const uint32_t function = static_cast<uint32_t>(next(state) % kFunctions);
    if (held.block != nullptr && chance >> 40 & 1) {
      std::free(held.block);
      held = {};
    } else {
      held = {kTakers[function](held.block, size_bytes), size_bytes, function, epoch};
    }
  }
}

// What is live now is what each range that ends here has.
void write_books(size_t to) {
  for (size_t thread = 0; thread < g_threads; ++thread) {
    for (const Held& held : g_held[thread]) {
      if (held.block == nullptr) continue;
      for (size_t from = 0; from <= held.epoch && from < to; ++from)
        g_books[from][to][held.function] += held.size_bytes;
    }
  }
}

void* run(void* argument) {
  const auto thread = reinterpret_cast<uintptr_t>(argument);
  uint64_t state = g_seed * 0x9E3779B97F4A7C15 + thread + 1;
  for (size_t mark = 1; mark <= g_marks; ++mark) {
    work(thread, static_cast<uint32_t>(mark - 1), &state);
    if (pthread_barrier_wait(&g_all) == PTHREAD_BARRIER_SERIAL_THREAD) {
      write_books(mark);
      heapprof_mark(&g_names[mark]);
    }
    pthread_barrier_wait(&g_all);
  }
  work(thread, static_cast<uint32_t>(g_marks), &state);
  return nullptr;
}

void print_end(FILE* file, size_t mark) {
  mark == 0 || mark > g_marks ? std::fprintf(file, "null") : std::fprintf(file, "\"m%zu\"", mark);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  g_seed = std::strtoull(argv[1], nullptr, 10);
  g_threads = std::strtoull(argv[2], nullptr, 10);
  g_marks = std::strtoull(argv[3], nullptr, 10);
  if (g_threads < 1 || g_threads > kMostThreads || g_marks > kMostMarks) return 2;
  for (size_t mark = 1; mark <= g_marks; ++mark) {
    std::snprintf(g_texts[mark], sizeof g_texts[mark], "m%zu", mark);
    g_names[mark].text = g_texts[mark];
  }
  pthread_barrier_init(&g_all, nullptr, static_cast<unsigned>(g_threads));
  pthread_t threads[kMostThreads];
  for (size_t i = 1; i < g_threads; ++i) pthread_create(&threads[i], nullptr, run, reinterpret_cast<void*>(i));
  run(nullptr);
  for (size_t i = 1; i < g_threads; ++i) pthread_join(threads[i], nullptr);
  write_books(g_marks + 1);
  FILE* file = std::fopen(argv[5], "w");
  if (file == nullptr) return 1;
  std::fprintf(file, "{\"functions\": [\"take_0\", \"take_1\", \"take_2\", \"take_3\"], \"ranges\": [");
  for (size_t from = 0; from <= g_marks; ++from) {
    for (size_t to = from + 1; to <= g_marks + 1; ++to) {
      std::fprintf(file, "%s{\"from\": ", from + to == 1 ? "" : ",\n");
      print_end(file, from);
      std::fprintf(file, ", \"to\": ");
      print_end(file, to);
      const uint64_t* of = g_books[from][to];
      std::fprintf(file, ", \"bytes\": {\"take_0\": %lu, \"take_1\": %lu, \"take_2\": %lu, \"take_3\": %lu}}", of[0],
                   of[1], of[2], of[3]);
    }
  }
  std::fprintf(file, "]}\n");
  std::fclose(file);
  if (std::strcmp(argv[4], "KILL") == 0) kill(getpid(), SIGKILL);
  return 0;
}
