// tests/targets/inside/names.cc: a program that names its memory, with its own books of what is live by name.
//
//   names SEED THREADS OPERATIONS HOW BOOKS   random work: blocks and pages that are named, named again, resized, freed
//                                             by other threads; names for what is not live. HOW it ends: exit or KILL
//                                             (in the middle of the work of all threads but the first)
//   names most                                one thread: the most that was live under a name is known
//   names fork                                a child names a block of its own, and one of its parent's
#include <fcntl.h>
#include <heapprof/heapprof.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

constexpr size_t kSites = 6;
constexpr size_t kSlots = 2048;
constexpr size_t kMapSlots = 32;
constexpr size_t kNames = 5;

heapprof_name g_names[kNames] = {
    {"model", "weights", 0}, {"model", "KV cache", 0}, {nullptr, "index", 0}, {"", "ende ä", 0}, {"io", "weights", 0}};
const char* const kShown[kNames] = {"model:weights", "model:KV cache", ":index", ":ende ä", "io:weights"};

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

struct Sum {
  std::atomic<uint64_t> total_bytes, total_blocks, live_bytes, live_blocks;

  void add(size_t size_bytes) {
    total_bytes += size_bytes;
    ++total_blocks;
    live_bytes += size_bytes;
    ++live_blocks;
  }
  void remove(size_t size_bytes) {
    live_bytes -= size_bytes;
    --live_blocks;
  }
};
Sum g_by_site[kNames][2 * kSites];  // of `take`, then of `resize`
Sum g_mapped[kNames];
std::atomic<uint64_t> g_unmatched;

struct Slot {
  pthread_mutex_t lock;
  void* block;
  size_t size_bytes;
  size_t site;  // of `take`, or kSites + that of `resize`
  size_t name;  // + 1; 0: none
};
Slot g_slots[kSlots];
Slot g_maps[kMapSlots];
uint64_t g_operations = 0;
const char* g_how = "exit";
char g_never[64];  // its address is no block's

uint64_t next(uint64_t* random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return *random >> 33;
}

void name(Slot* slot, Sum* now, Sum* before, size_t number) {
  heapprof_name_block(slot->block, &g_names[number]);
  if (slot->name == number + 1) return;
  now->add(slot->size_bytes);
  if (slot->name != 0) before->remove(slot->size_bytes);
  slot->name = number + 1;
}
Sum* sum_of(const Slot& slot) { return slot.name == 0 ? nullptr : &g_by_site[slot.name - 1][slot.site]; }

void operate_on_heap(Slot* slot, uint64_t* random) {
  const size_t site = next(random) % kSites;
  const size_t size_bytes = next(random) % 900 + 1;
  const uint64_t what = next(random) % 8;
  if (slot->block == nullptr) {
    slot->block = kTakers[site](size_bytes);
    slot->size_bytes = size_bytes;
    slot->site = site;
    slot->name = 0;
  } else if (what < 3) {
    const size_t number = next(random) % kNames;
    name(slot, &g_by_site[number][slot->site], sum_of(*slot), number);
  } else if (what < 5) {
    if (slot->name != 0) sum_of(*slot)->remove(slot->size_bytes);
    slot->block = kResizers[site](slot->block, size_bytes);
    slot->size_bytes = size_bytes;
    slot->site = kSites + site;
    if (slot->name != 0) sum_of(*slot)->add(size_bytes);
  } else {
    if (slot->name != 0) sum_of(*slot)->remove(slot->size_bytes);
    std::free(slot->block);
    slot->block = nullptr;
  }
}

[[gnu::noinline]] void operate_on_pages(Slot* slot, uint64_t* random) {
  constexpr size_t kPage = 4096;
  const uint64_t what = next(random) % 5;
  if (slot->block == nullptr) {
    slot->size_bytes = (next(random) % 8 + 2) * kPage;
    slot->block = mmap(nullptr, slot->size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    slot->name = 0;
  } else if (what < 2) {
    const size_t number = next(random) % kNames;
    name(slot, &g_mapped[number], slot->name == 0 ? nullptr : &g_mapped[slot->name - 1], number);
  } else if (what == 2 && slot->size_bytes > kPage) {  // its last page goes: the block lives on
    munmap(static_cast<char*>(slot->block) + slot->size_bytes - kPage, kPage);
    slot->size_bytes -= kPage;
    if (slot->name != 0) g_mapped[slot->name - 1].live_bytes -= kPage;
  } else {
    if (slot->name != 0) g_mapped[slot->name - 1].remove(slot->size_bytes);
    munmap(slot->block, slot->size_bytes);
    slot->block = nullptr;
  }
}

void operate(uint64_t* random) {
  const bool is_mapped = next(random) % 50 == 0;
  Slot& slot = is_mapped ? g_maps[next(random) % kMapSlots] : g_slots[next(random) % kSlots];
  pthread_mutex_lock(&slot.lock);
  is_mapped ? operate_on_pages(&slot, random) : operate_on_heap(&slot, random);
  pthread_mutex_unlock(&slot.lock);
  if (next(random) % 200 != 0) return;
  heapprof_name_block(&g_never[next(random) % sizeof g_never], &g_names[0]);
  heapprof_name_block(nullptr, &g_names[0]);  // left alone
  ++g_unmatched;
}

void* work(void* seed) {
  uint64_t random = reinterpret_cast<uintptr_t>(seed);
  for (uint64_t i = 0; i < g_operations; ++i) operate(&random);
  return nullptr;
}

void write_books(const char* path) {
  FILE* file = std::fopen(path, "w");
  const auto line = [file](const char* device, size_t number, const char* function, size_t site, const Sum& sum) {
    if (sum.total_blocks == 0) return;
    std::fprintf(file, "%s|%s|%s<%zu>|%lu %lu %lu %lu\n", device, kShown[number], function, site,
                 sum.total_bytes.load(), sum.total_blocks.load(), sum.live_bytes.load(), sum.live_blocks.load());
  };
  for (size_t number = 0; number < kNames; ++number) {
    for (size_t site = 0; site < 2 * kSites; ++site)
      line("host", number, site < kSites ? "take" : "resize", site % kSites, g_by_site[number][site]);
    line("mapped", number, "operate_on_pages", 0, g_mapped[number]);
  }
  std::fprintf(file, "unmatched|%lu\n", g_unmatched.load());
  std::fclose(file);
}

void run_random(char** arguments) {
  const uint64_t seed = std::strtoull(arguments[1], nullptr, 10) * 1000;
  const size_t threads = std::strtoull(arguments[2], nullptr, 10);
  g_operations = std::strtoull(arguments[3], nullptr, 10);
  g_how = arguments[4];
  for (Slot& slot : g_slots) pthread_mutex_init(&slot.lock, nullptr);
  for (Slot& slot : g_maps) pthread_mutex_init(&slot.lock, nullptr);
  pthread_t ids[64];
  for (size_t i = 1; i < threads; ++i) pthread_create(&ids[i], nullptr, work, reinterpret_cast<void*>(seed + i));
  work(reinterpret_cast<void*>(seed));
  for (size_t i = 1; i < threads; ++i) pthread_join(ids[i], nullptr);
  write_books(arguments[5]);
  if (std::strcmp(g_how, "KILL") == 0) kill(getpid(), SIGKILL);
}

// 300 bytes in two blocks were the most of "cache", and 100 of "table", which a realloc made 50.
void run_most() {
  void* first = take<0>(100);
  void* second = take<1>(200);
  HEAPPROF_NAME_BLOCK(first, "cache");
  HEAPPROF_NAME_BLOCK(second, "cache");
  HEAPPROF_NAME_BLOCK(first, "table");
  first = resize<0>(first, 50);
  std::free(second);
  second = take<1>(150);
  HEAPPROF_NAME_BLOCK_IN(second, "", "cache");  // no category is the empty one
  void* gone = first;
  asm volatile("" : "+r"(gone));
  std::free(first);
  HEAPPROF_NAME_BLOCK(gone, "cache");  // it is not live any more
}

void run_fork() {
  void* parents = take<0>(1235);
  const pid_t child = fork();
  if (child == 0) {
    void* own = take<1>(77);
    HEAPPROF_NAME_BLOCK(own, "child's");
    HEAPPROF_NAME_BLOCK(parents, "parent's");  // of which the child's profile knows nothing
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  HEAPPROF_NAME_BLOCK(parents, "parent's");
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 5) {
    run_random(arguments);
  } else if (std::strcmp(arguments[1], "most") == 0) {
    run_most();
  } else {
    run_fork();
  }
  return 0;
}
