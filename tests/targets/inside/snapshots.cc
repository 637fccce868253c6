// tests/targets/inside/snapshots.cc: a program with its own books of what is live by function, at each of its marks.
//
//   snapshots SEED THREADS ROUNDS HOW BOOKS
//
// In each round all threads allocate, free and resize blocks of one table; then they meet, and one of them writes to
// BOOKS what is live and makes a mark. As all others wait meanwhile, the books are those of the mark, to the byte. HOW
// is how it ends: exit, KILL, TERM or INT (by that signal, to itself, in the middle of a round), or fork: a child
// allocates 100 blocks, makes the mark "child", and both go on to their ends.
#include <fcntl.h>
#include <heapprof/heapprof.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

constexpr size_t kSites = 24;
constexpr size_t kSlots = 4096;
constexpr size_t kMostRounds = 2000;
constexpr size_t kOperations = 400;  // of a thread in a round

// Each is a site of its own.
template <size_t kSite>
[[gnu::noinline]] void* take(size_t size_bytes) {
  void* block = std::malloc(size_bytes);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
template <size_t kSite>
[[gnu::noinline]] void* resize(void* block, size_t size_bytes) {
  block = std::realloc(block, size_bytes);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
using Take = void* (*)(size_t);
using Resize = void* (*)(void*, size_t);
template <size_t... kSite>
constexpr std::array<Take, kSites> takers(std::index_sequence<kSite...>) {
  return {take<kSite>...};
}
template <size_t... kSite>
constexpr std::array<Resize, kSites> resizers(std::index_sequence<kSite...>) {
  return {resize<kSite>...};
}
constexpr std::array<Take, kSites> kTakers = takers(std::make_index_sequence<kSites>());
constexpr std::array<Resize, kSites> kResizers = resizers(std::make_index_sequence<kSites>());

// ---- The books, in static memory ----

struct Slot {
  pthread_mutex_t lock;
  void* block;
  size_t size_bytes;
  size_t site;  // of `take`, or kSites + that of `resize`
};
Slot g_slots[kSlots];
int g_books = -1;
pthread_barrier_t g_meet;
char g_texts[kMostRounds + 1][16];
heapprof_name g_names[kMostRounds + 1];
size_t g_rounds = 0;
const char* g_how = "exit";

void write_books(const char* mark) {
  static size_t bytes[2 * kSites], blocks[2 * kSites], sizes[kSlots];
  std::memset(bytes, 0, sizeof bytes);
  std::memset(blocks, 0, sizeof blocks);
  size_t live = 0;
  for (const Slot& slot : g_slots) {
    if (slot.block == nullptr) continue;
    bytes[slot.site] += slot.size_bytes;
    ++blocks[slot.site];
    sizes[live++] = slot.size_bytes;
  }
  static char text[16384];
  int length = std::snprintf(text, sizeof text, "MARK %s\n", mark);
  for (size_t site = 0; site < 2 * kSites; ++site) {
    if (blocks[site] == 0) continue;
    length += std::snprintf(text + length, sizeof text - static_cast<size_t>(length), "%s<%zu> %zu %zu\n",
                            site < kSites ? "take" : "resize", site % kSites, bytes[site], blocks[site]);
  }
  std::sort(sizes, sizes + live, [](size_t a, size_t b) { return a > b; });
  length += std::snprintf(text + length, sizeof text - static_cast<size_t>(length), "LARGEST");
  for (size_t i = 0; i < std::min<size_t>(live, 10); ++i)
    length += std::snprintf(text + length, sizeof text - static_cast<size_t>(length), " %zu", sizes[i]);
  length += std::snprintf(text + length, sizeof text - static_cast<size_t>(length), "\n");
  if (write(g_books, text, static_cast<size_t>(length)) != length) std::abort();
}

uint64_t next(uint64_t* random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return *random >> 33;
}

void operate(uint64_t* random) {
  Slot& slot = g_slots[next(random) % kSlots];
  const size_t site = next(random) % kSites;
  // Mostly small; now and then a large one, so that the ten largest change.
  const size_t size_bytes = next(random) % 50 == 0 ? next(random) % 200'000 + 4096 : next(random) % 500 + 1;
  pthread_mutex_lock(&slot.lock);
  if (slot.block == nullptr) {
    slot.block = kTakers[site](size_bytes);
    slot.size_bytes = size_bytes;
    slot.site = site;
  } else if (next(random) % 3 == 0) {
    slot.block = kResizers[site](slot.block, size_bytes);
    slot.size_bytes = size_bytes;
    slot.site = kSites + site;
  } else {
    std::free(slot.block);
    slot.block = nullptr;
  }
  pthread_mutex_unlock(&slot.lock);
}

void end_by_signal() {
  const int number = std::strcmp(g_how, "KILL") == 0   ? SIGKILL
                     : std::strcmp(g_how, "TERM") == 0 ? SIGTERM
                     : std::strcmp(g_how, "INT") == 0  ? SIGINT
                                                       : 0;
  if (number != 0) kill(getpid(), number);
}

void* work(void* seed) {
  uint64_t random = reinterpret_cast<uintptr_t>(seed);
  const bool is_first = random % 1000 == 0;
  for (size_t round = 1; round <= g_rounds; ++round) {
    for (size_t i = 0; i < kOperations; ++i) operate(&random);
    if (pthread_barrier_wait(&g_meet) == PTHREAD_BARRIER_SERIAL_THREAD) {  // any of them
      std::snprintf(g_texts[round], sizeof g_texts[round], "round %zu", round);
      g_names[round] = {"test", g_texts[round], 0};
      write_books(g_texts[round]);
      heapprof_mark(&g_names[round]);
    }
    pthread_barrier_wait(&g_meet);
    if (round == g_rounds && is_first) {
      for (size_t i = 0; i < kOperations / 2; ++i) operate(&random);
      end_by_signal();
    }
  }
  return nullptr;
}

}  // namespace

int main(int, char** arguments) {
  const uint64_t seed = std::strtoull(arguments[1], nullptr, 10) * 1000;
  const size_t threads = std::strtoull(arguments[2], nullptr, 10);
  g_rounds = std::min(kMostRounds, static_cast<size_t>(std::strtoull(arguments[3], nullptr, 10)));
  g_how = arguments[4];
  g_books = open(arguments[5], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  for (Slot& slot : g_slots) pthread_mutex_init(&slot.lock, nullptr);
  pthread_barrier_init(&g_meet, nullptr, static_cast<unsigned>(threads));
  pthread_t ids[64];
  for (size_t i = 1; i < threads; ++i) pthread_create(&ids[i], nullptr, work, reinterpret_cast<void*>(seed + i));
  work(reinterpret_cast<void*>(seed));
  for (size_t i = 1; i < threads; ++i) pthread_join(ids[i], nullptr);
  if (std::strcmp(g_how, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 100; ++i) take<0>(1235);
      HEAPPROF_MARK("child");
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  return 0;
}
