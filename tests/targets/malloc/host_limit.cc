// tests/targets/malloc/host_limit.cc: a program that is told the limit of its heap, and tries it with books of its own.
//
// usage: host_limit LIMIT_BYTES [edge|kinds|threads|new|realloc]     exits with 0 if everything is as it should be
#include "../keep.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

namespace {

int failures = 0;
void expect(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  char text[300];
  const int length = snprintf(text, sizeof text, "line %d: %s\n", line, what);
  if (write(2, text, static_cast<size_t>(length)) < 0) _exit(3);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

uint64_t limit_bytes = 0;

KEEP_FRAME void* get(size_t bytes) { return keep(malloc(bytes)); }
KEEP_FRAME void* resize(void* block, size_t bytes) { return keep(realloc(block, bytes)); }
volatile size_t half_of_all = SIZE_MAX / 2;

// What is still to be had, found by asking: blocks of which each is as large as it can be.
uint64_t fill(std::vector<void*>* blocks) {
  uint64_t bytes = 0;
  for (size_t size = limit_bytes; size >= 16;) {
    void* block = blocks->size() < blocks->capacity() ? get(size) : nullptr;
    if (block == nullptr) {
      size /= 2;
      continue;
    }
    blocks->push_back(block);
    bytes += malloc_usable_size(block);
  }
  return bytes;
}
// The smallest block has 24 bytes: as much may be left.
bool is_same(uint64_t a, uint64_t b) { return a < b + 24 && b < a + 24; }
void empty(std::vector<void*>* blocks) {
  for (void* block : *blocks) free(block);
  blocks->clear();
}

// What is freed can be had again.
void try_edge(std::vector<void*>* blocks) {
  const uint64_t first = fill(blocks);
  EXPECT(first <= limit_bytes);
  EXPECT(first + 200'000 > limit_bytes);  // what else the process has: the C++ runtime's reserve, and the list
  errno = 0;
  EXPECT(get(24) == nullptr);
  EXPECT(errno == ENOMEM);
  empty(blocks);
  void* most = get(first - 1024);
  EXPECT(most != nullptr);
  const uint64_t left = first - malloc_usable_size(most);
  EXPECT(get(left + 24) == nullptr);
  void* rest = get(left - 16);
  EXPECT(rest != nullptr && malloc_usable_size(rest) <= left);
  free(rest);
  free(most);
  EXPECT(is_same(fill(blocks), first));
  empty(blocks);
}

void try_kinds(std::vector<void*>* blocks) {
  const uint64_t first = fill(blocks);
  void* out = blocks;
  errno = 0;
  EXPECT(keep(calloc(10, 100)) == nullptr && errno == ENOMEM);
  EXPECT(keep(memalign(64, 1000)) == nullptr);
  EXPECT(keep(aligned_alloc(64, 1024)) == nullptr);
  EXPECT(keep(valloc(1000)) == nullptr);
  EXPECT(keep(reallocarray(nullptr, 10, 100)) == nullptr);
  errno = 0;
  EXPECT(posix_memalign(&out, 64, 1000) == ENOMEM && errno == 0 && out == blocks);
  EXPECT(keep(calloc(half_of_all, 3)) == nullptr);
  EXPECT(get(half_of_all) == nullptr);
  empty(blocks);
  void* kinds[] = {keep(calloc(10, 1000)), keep(memalign(64, 10'000)), keep(aligned_alloc(64, 10'240)),
                   keep(valloc(10'000)), resize(nullptr, 10'000)};
  EXPECT(posix_memalign(&kinds[4], 64, 10'000) == 0);
  EXPECT(kinds[0] != nullptr && static_cast<char*>(kinds[0])[9'999] == 0);
  for (void* block : kinds) free(block);
  EXPECT(is_same(fill(blocks) + 10'008, first));  // the fifth was lost above
  empty(blocks);
}

void try_realloc(std::vector<void*>* blocks) {
  auto* block = static_cast<unsigned char*>(get(limit_bytes / 2));
  const uint64_t bytes = malloc_usable_size(block);
  memset(block, 7, bytes);
  errno = 0;
  EXPECT(resize(block, limit_bytes) == nullptr && errno == ENOMEM);
  EXPECT(malloc_usable_size(block) == bytes && block[0] == 7 && block[bytes - 1] == 7);
  // Larger than half of what there is: not both at once.
  block = static_cast<unsigned char*>(resize(block, limit_bytes / 4 * 3));
  EXPECT(block != nullptr && block[0] == 7 && block[bytes - 1] == 7);
  block = static_cast<unsigned char*>(resize(block, 1000));
  EXPECT(block != nullptr && block[999] == 7);
  const uint64_t first = fill(blocks) + malloc_usable_size(block);
  empty(blocks);
  for (size_t size = 1000; size < limit_bytes / 2; size += size / 3) {
    block = static_cast<unsigned char*>(resize(block, size));
    EXPECT(block != nullptr && block[999] == 7);
  }
  block = static_cast<unsigned char*>(resize(block, 3000));
  EXPECT(is_same(fill(blocks) + malloc_usable_size(block), first));
  empty(blocks);
  EXPECT(resize(block, 0) == nullptr);
  EXPECT(is_same(fill(blocks), first));
  empty(blocks);
}

KEEP_FRAME void* make(size_t bytes) { return keep(::operator new(bytes)); }

void try_new(std::vector<void*>* blocks) {
  bool is_thrown = false;
  try {
    make(limit_bytes);
  } catch (const std::bad_alloc&) {
    is_thrown = true;
  }
  EXPECT(is_thrown);
  EXPECT(keep(::operator new(limit_bytes, std::nothrow)) == nullptr);
  void* block = make(limit_bytes / 2);
  EXPECT(keep(::operator new(limit_bytes / 2, std::nothrow)) == nullptr);
  ::operator delete(block);
  block = make(limit_bytes / 4 * 3);
  ::operator delete(block);
  (void)blocks;
}

// The blocks of all threads together never exceed the limit, and nothing is refused that would fit: each thread asks
// for less than its share, while others ask for what nobody can have.
void try_threads(std::vector<void*>* blocks) {
  const uint64_t first = fill(blocks);
  empty(blocks);
  std::atomic<uint64_t> held{0}, refused{0}, most{0};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      void* own[8] = {};
      unsigned random = number + 1;
      for (int i = 0; i < 60'000; ++i) {
        random = random * 1'103'515'245 + 12'345;
        void*& slot = own[random >> 16 & 7];
        if (slot != nullptr) {
          held -= malloc_usable_size(slot);
          if (random >> 20 & 1) {
            free(slot);
            slot = nullptr;
            continue;
          }
          void* grown = realloc(slot, 1 + (random >> 8) % (limit_bytes / 6));
          if (grown != nullptr)
            slot = grown;
          else
            ++refused;
        } else {
          slot = malloc(1 + (random >> 8) % (limit_bytes / 6));
          if (slot == nullptr) {
            ++refused;
            continue;
          }
        }
        const uint64_t now = held += malloc_usable_size(slot);
        for (uint64_t known = most; now > known && !most.compare_exchange_weak(known, now);) {
        }
      }
      for (void* block : own) {
        held -= malloc_usable_size(block);
        free(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT(refused > 0);
  EXPECT(most < first + 24);
  EXPECT(most > first / 2);
  std::vector<std::thread>().swap(threads);
  const uint64_t again = fill(blocks);  // libc keeps a little of each thread
  EXPECT(again <= first && again + 50'000 > first);
  empty(blocks);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  limit_bytes = static_cast<uint64_t>(atoll(argv[1]));
  std::vector<void*> blocks;
  blocks.reserve(4096);
  const char* what = argv[2];
  if (strcmp(what, "edge") == 0) try_edge(&blocks);
  if (strcmp(what, "kinds") == 0) try_kinds(&blocks);
  if (strcmp(what, "realloc") == 0) try_realloc(&blocks);
  if (strcmp(what, "new") == 0) try_new(&blocks);
  if (strcmp(what, "threads") == 0) try_threads(&blocks);
  return failures == 0 ? 0 : 1;
}
