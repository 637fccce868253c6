// tests/targets/malloc/python/object_oracle.cc: books of CPython's objects, beside heapprof's.
//
// A library to be preloaded, or loaded by a program that embeds Python: it stands before the interpreter's allocator as
// anybody may (PyMem_SetAllocator) and counts what goes through, with the interpreter's lock held. The books are a
// mapped file for each process, OBJECT_ORACLE.PID: so they are true after a kill, too. Blocks are kept by address in
// pages of its own; a forked child starts with none, and passes over the ends of those that its parent began.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Allocator {  // PyMemAllocatorEx
  void* context;
  void* (*malloc)(void*, size_t);
  void* (*calloc)(void*, size_t, size_t);
  void* (*realloc)(void*, void*, size_t);
  void (*free)(void*, void*);
};

struct Books {
  uint64_t total_bytes, total_blocks;
  uint64_t live_bytes, live_blocks;
  uint64_t peak_bytes;
  uint64_t unknown;  // ends of blocks that began before
};

constexpr size_t kSlots = 1 << 22;  // a power of two, and more than any test has at one time
struct Slot {
  uint64_t address;  // 0: free
  uint64_t size_bytes;
};
Slot* g_slots = nullptr;
Books* g_books = nullptr;
Allocator g_former[2];

size_t home_of(uint64_t address) { return static_cast<size_t>((address >> 4) * 0x9E3779B97F4A7C15ull >> 42); }
static_assert(kSlots == 1 << 22);

void begin(const void* block, uint64_t size_bytes) {
  const auto address = reinterpret_cast<uint64_t>(block);
  size_t at = home_of(address);
  while (g_slots[at].address != 0) at = (at + 1) % kSlots;
  g_slots[at] = {address, size_bytes};
  g_books->total_bytes += size_bytes;
  ++g_books->total_blocks;
  g_books->live_bytes += size_bytes;
  ++g_books->live_blocks;
}

void check_peak() {
  if (g_books->live_bytes > g_books->peak_bytes) g_books->peak_bytes = g_books->live_bytes;
}

// Closes the gap, so that a look-up may stop at the first free slot.
void end(const void* block) {
  const auto address = reinterpret_cast<uint64_t>(block);
  size_t at = home_of(address);
  while (g_slots[at].address != 0 && g_slots[at].address != address) at = (at + 1) % kSlots;
  if (g_slots[at].address == 0) {
    ++g_books->unknown;
    return;
  }
  g_books->live_bytes -= g_slots[at].size_bytes;
  --g_books->live_blocks;
  for (size_t next = (at + 1) % kSlots; g_slots[next].address != 0; next = (next + 1) % kSlots) {
    const size_t home = home_of(g_slots[next].address);
    if ((next - home) % kSlots < (next - at) % kSlots) continue;
    g_slots[at] = g_slots[next];
    at = next;
  }
  g_slots[at] = {};
}

void* oracle_malloc(void* context, size_t size) {
  auto* former = static_cast<Allocator*>(context);
  void* block = former->malloc(former->context, size);
  if (block != nullptr) begin(block, size);
  check_peak();
  return block;
}
void* oracle_calloc(void* context, size_t count, size_t size) {
  auto* former = static_cast<Allocator*>(context);
  void* block = former->calloc(former->context, count, size);
  if (block != nullptr) begin(block, count * size);
  check_peak();
  return block;
}
void* oracle_realloc(void* context, void* block, size_t size) {
  auto* former = static_cast<Allocator*>(context);
  void* fresh = former->realloc(former->context, block, size);
  if (fresh == nullptr) return nullptr;
  if (block != nullptr) end(block);
  begin(fresh, size);
  check_peak();
  return fresh;
}
void oracle_free(void* context, void* block) {
  auto* former = static_cast<Allocator*>(context);
  if (block != nullptr) end(block);
  former->free(former->context, block);
}

void open_books() {
  const char* name = getenv("OBJECT_ORACLE");
  if (name == nullptr) _exit(97);
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", name, getpid());
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Books)) != 0) _exit(97);
  g_books = static_cast<Books*>(mmap(nullptr, sizeof(Books), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  close(fd);
  g_slots = static_cast<Slot*>(
      mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

}  // namespace

extern "C" {
__attribute__((weak)) void PyMem_GetAllocator(int domain, Allocator* allocator);
__attribute__((weak)) void PyMem_SetAllocator(int domain, Allocator* allocator);
}

namespace {

// Stands before the allocators of PYMEM_DOMAIN_MEM and PYMEM_DOMAIN_OBJ.
__attribute__((constructor)) void start() {
  if (PyMem_GetAllocator == nullptr || getenv("OBJECT_ORACLE") == nullptr) return;
  open_books();
  pthread_atfork(nullptr, nullptr, open_books);
  for (int i = 0; i < 2; ++i) {
    PyMem_GetAllocator(i + 1, &g_former[i]);
    Allocator ours = {&g_former[i], oracle_malloc, oracle_calloc, oracle_realloc, oracle_free};
    PyMem_SetAllocator(i + 1, &ours);
  }
}

}  // namespace
