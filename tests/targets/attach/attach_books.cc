// tests/targets/attach/attach_books.cc: a program that is attached to while it runs, and keeps its own books of what it
// does in between.
//
// arguments: phases THREADS     says "ready", then reads words from stdin: "work": each thread allocates and frees a
//                               known number of blocks, and frees what it had before; prints "COUNT BYTES FREED LIVE
//                               LIVE_BYTES FREED_BEFORE" of that, and the process's threads; "end": ends
//            storm THREADS      allocates, checks and frees until stdin ends; prints the rounds of all threads
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Books {
  uint64_t count = 0, bytes = 0, freed = 0, live = 0, live_bytes = 0, freed_before = 0;
};

// What a thread has before anybody attaches.
struct Before {
  std::vector<void*> blocks;
};

[[gnu::noinline]] void* take(size_t bytes) {
  void* volatile block = std::malloc(bytes);
  return block;
}

[[gnu::noinline]] void* take_more(void* block, size_t bytes) {
  void* volatile moved = std::realloc(block, bytes);
  return moved;
}

void work(unsigned seed, Before* before, Books* books) {
  std::vector<std::pair<void*, size_t>> live(300);
  uint64_t random = seed * 2654435761u + 1;
  const auto next = [&random] { return random = random * 6364136223846793005u + 1442695040888963407u, random >> 33; };
  for (int i = 0; i < 20000; ++i) {
    auto& [block, bytes] = live[next() % live.size()];
    if (block == nullptr) {
      bytes = 1 + next() % 900;
      block = take(bytes);
      ++books->count;
      books->bytes += bytes;
    } else if (next() % 3 == 0) {
      const size_t fresh = 1 + next() % 900;
      block = take_more(block, fresh);
      ++books->count;
      ++books->freed;
      books->bytes += fresh;
      bytes = fresh;
    } else {
      std::free(block);
      ++books->freed;
      block = nullptr;
    }
  }
  for (const auto& [block, bytes] : live) {
    if (block == nullptr) continue;
    ++books->live;
    books->live_bytes += bytes;
  }
  for (void*& block : before->blocks) {
    std::free(block);
    ++books->freed_before;
  }
  before->blocks.clear();
}

int run_phases(unsigned threads) {
  static std::vector<Before> before(threads);
  for (Before& one : before) {
    one.blocks.reserve(500);
    for (int i = 0; i < 500; ++i) one.blocks.push_back(take(48 + static_cast<size_t>(i) % 64));
  }
  std::puts("ready");
  std::fflush(stdout);
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr && std::strncmp(line, "end", 3) != 0) {
    static std::vector<Books> books;
    books.assign(threads, {});
    std::vector<std::thread> all;
    all.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) all.emplace_back([i] { work(i + 1, &before[i], &books[i]); });
    for (std::thread& one : all) one.join();
    Books sum;
    for (const Books& one : books) {
      sum.count += one.count, sum.bytes += one.bytes, sum.freed += one.freed;
      sum.live += one.live, sum.live_bytes += one.live_bytes, sum.freed_before += one.freed_before;
    }
    std::printf("%lu %lu %lu %lu %lu %lu\n", sum.count, sum.bytes, sum.freed, sum.live, sum.live_bytes,
                sum.freed_before);
    std::fflush(stdout);
  }
  return 0;
}

int run_storm(unsigned threads) {
  static std::atomic<bool> is_over{false};
  static std::atomic<uint64_t> rounds{0};
  static std::atomic<bool> is_damaged{false};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) {
    all.emplace_back([i] {
      struct Block {
        unsigned char* at = nullptr;
        size_t bytes = 0;
        unsigned char fill = 0;
      };
      std::vector<Block> blocks(64);
      uint64_t random = i + 1;
      while (!is_over) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        Block& block = blocks[random >> 40 & 63];
        if (block.at != nullptr) {
          if (block.at[0] != block.fill || block.at[block.bytes - 1] != block.fill) is_damaged = true;
          std::free(block.at);
          block.at = nullptr;
        } else {
          block.bytes = 1 + (random >> 20) % 3000;
          block.fill = static_cast<unsigned char>(random >> 50);
          block.at = static_cast<unsigned char*>((random >> 60) % 3 == 0 ? std::calloc(1, block.bytes)
                                                                         : std::malloc(block.bytes));
          std::memset(block.at, block.fill, block.bytes);
        }
        if ((random >> 30) % 5000 == 0) {
          if (void* library = dlopen("libz.so.1", RTLD_NOW)) dlclose(library);
        }
        if ((random >> 30) % 300 == 0) usleep(50);
        rounds.fetch_add(1, std::memory_order_relaxed);
      }
      for (Block& block : blocks) std::free(block.at);
    });
  }
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
  }
  is_over = true;
  for (std::thread& one : all) one.join();
  std::printf("%lu\n", rounds.load());
  return is_damaged ? 9 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  if (how == "phases") return run_phases(threads);
  if (how == "storm") return run_storm(threads);
  return 2;
}
