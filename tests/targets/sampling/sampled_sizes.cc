// tests/targets/sampling/sampled_sizes.cc: allocates known numbers of blocks of known sizes, each size in a function of
// its own, and keeps its own books.
//
// arguments: sizes THREADS   each thread allocates; half of the blocks are freed, by another thread; some are resized.
//                            Prints "SIZE BLOCKS LIVE" of each size, of all threads together
//            phases          reads words from stdin: "A" … "Z": allocates 1,000 blocks in the function `take` of that
//                            letter and frees every second one; "free": frees all that there is; prints "done" behind
//                            each; "mark": sets the mark "go"
//            forks           a forked child frees a block of `take` of A, and allocates 1,000 in that of B; then its
//                            parent frees the block
//            daemon          a forked child allocates 1,000 blocks in `take` of B, half a second later
#include "heapprof/heapprof.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

template <size_t kSize>
[[gnu::noinline]] void* take_size() {
  void* volatile block = std::malloc(kSize);
  return block;
}

template <size_t kSize>
[[gnu::noinline]] void* resize_to(void* old) {
  void* volatile block = std::realloc(old, kSize);
  return block;
}

struct Kind {
  size_t bytes;
  size_t blocks;  // of each thread
  void* (*take)();
  void* (*resize)(void*);
};
// About 40 MiB of each size but the smallest and the largest.
constexpr std::array kKinds = {Kind{16, 60'000, take_size<16>, resize_to<16>},
                               Kind{500, 20'000, take_size<500>, resize_to<500>},
                               Kind{8'000, 2'000, take_size<8'000>, resize_to<8'000>},
                               Kind{70'000, 200, take_size<70'000>, resize_to<70'000>},
                               Kind{300'000, 60, take_size<300'000>, resize_to<300'000>},
                               Kind{4'000'000, 8, take_size<4'000'000>, resize_to<4'000'000>}};

void work(std::vector<std::vector<void*>>* kept) {
  kept->resize(kKinds.size());
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    for (size_t i = 0; i < kKinds[kind].blocks; ++i) {
      // Every eighth is one of another size first.
      void* block = i % 8 != 0 ? kKinds[kind].take() : kKinds[kind].resize(std::malloc(24));
      (*kept)[kind].push_back(block);
    }
  }
}

int sizes(int threads) {
  std::vector<std::vector<std::vector<void*>>> kept(static_cast<size_t>(threads));
  std::vector<std::thread> workers;
  for (auto& blocks : kept) workers.emplace_back(work, &blocks);
  for (std::thread& worker : workers) worker.join();
  workers.clear();
  // What thread i has, thread i + 1 frees.
  for (size_t i = 0; i < kept.size(); ++i) {
    workers.emplace_back([&blocks = kept[i]] {
      for (auto& of_kind : blocks) {
        for (size_t j = 0; j < of_kind.size(); j += 2) std::free(of_kind[j]);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (const Kind& kind : kKinds) {
    const size_t blocks = kind.blocks * static_cast<size_t>(threads);
    std::printf("%zu %zu %zu\n", kind.bytes, blocks, blocks / 2);
  }
  return 0;
}

template <char kLetter>
[[gnu::noinline]] void* take(size_t bytes) {
  void* volatile block = std::malloc(bytes + kLetter - kLetter);
  return block;
}

template <size_t... kIndex>
void* take_by_letter(char letter, size_t bytes, std::index_sequence<kIndex...>) {
  constexpr std::array kTakes = {&take<static_cast<char>('A' + kIndex)>...};
  return kTakes.at(static_cast<size_t>(letter - 'A'))(bytes);
}

int phases() {
  std::vector<void*> blocks;
  blocks.reserve(100'000);
  for (std::string word; std::cin >> word;) {
    if (word == "free") {
      for (void* block : blocks) std::free(block);
      blocks.clear();
    } else if (word == "mark") {
      HEAPPROF_MARK("go");
    } else {
      for (size_t i = 0; i < 1000; ++i) {
        void* block = take_by_letter(word[0], 1000, std::make_index_sequence<26>());
        if (i % 2 == 0) {
          std::free(block);
        } else {
          blocks.push_back(block);
        }
      }
    }
    std::puts("done");
    std::fflush(stdout);
  }
  return 0;
}

// A chosen block that is freed by a forked child, first of all, and then by its parent.
int forks() {
  void* const block = take<'A'>(64 << 20);
  if (fork() == 0) {
    std::free(block);
    for (int i = 0; i < 1000; ++i) take<'B'>(1000);
    _exit(0);
  }
  wait(nullptr);
  std::free(block);
  return 0;
}

// The parent ends, and the child allocates half a second later.
int daemon() {
  if (fork() != 0) return 0;
  usleep(500'000);
  for (int i = 0; i < 1000; ++i) take<'B'>(1000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "sizes") return sizes(std::atoi(argv[2]));
  if (argc == 2 && std::string(argv[1]) == "phases") return phases();
  if (argc == 2 && std::string(argv[1]) == "forks") return forks();
  if (argc == 2 && std::string(argv[1]) == "daemon") return daemon();
  return 2;
}
