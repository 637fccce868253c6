// tests/unit/agent_process/thread_stacks_test.cc: descriptors of threads as glibc 2.36 fills them, and what must not be
// taken for a stack in them.
#include "agent/process/thread_stacks.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using heapprof::agent::find_stack_start;

namespace {

constexpr uint64_t kDescriptor = 0x7f87827336c0, kNeighbour = kDescriptor - 0x801000, kIdOff = 720;

// Of x86-64: a list of threads, the id, robust mutexes, the stack. Without a stack it is the main thread's.
std::vector<uint64_t> describe(uint64_t thread_id, uint64_t stack_avma, uint64_t stack_bytes) {
  std::vector<uint64_t> words(296);
  words[0] = words[2] = kDescriptor;
  words[88] = words[89] = kNeighbour + 704;
  words[90] = thread_id;
  words[91] = words[92] = kDescriptor + 736;
  words[211] = stack_avma;
  words[212] = stack_bytes;
  words[213] = words[214] = 0x1000;
  return words;
}

uint64_t search(const std::vector<uint64_t>& words, uint64_t id_off = kIdOff) {
  return find_stack_start(words.data(), words.size(), kDescriptor, id_off);
}

}  // namespace

TEST_CASE("a thread's stack is found, whatever its id") {
  for (const uint64_t id : {1u, 1632u, 5000u, 18000u, 100000u, 4194303u}) {
    CAPTURE(id);
    CHECK(search(describe(id, 0x7f8781f33000, 0x801000)) == 0x7f8781f33000);
    CHECK(search(describe(id, 0x7f8781f33000, 0x801000), 0) == 0x7f8781f33000);
  }
}

TEST_CASE("the main thread's descriptor names no stack, whatever its id") {
  for (const uint64_t id : {1u, 1632u, 5000u, 18000u, 100000u, 4194303u}) {
    CAPTURE(id);
    CHECK(search(describe(id, 0, 0)) == 0);
  }
}

TEST_CASE("no stack: a zero beside the descriptor of a neighbour, and an id behind its address") {
  std::vector<uint64_t> words = describe(5000, 0, 0);
  words[87] = 0;
  words[88] = kDescriptor + 2368 + 100;
  CHECK(search(words) == 0);
  words = describe(0x10000, 0, 0);
  words[89] = kDescriptor + 2368 - 0x10000;  // of a thread with a stack of 64 KiB
  CHECK(search(words) == 0);
}
