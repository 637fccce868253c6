// tests/unit/agent_process/aarch64_code_test.cc: code of 64-bit Arm, as assemblers and linkers write it, recognized on
// any processor.
#include <catch2/catch.hpp>
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

// Under a name of their own: the headers of the processor that the tests run on have the same names.
namespace arm {
#include "agent/arch/aarch64/code.h"
#include "cli/arch/aarch64/code.h"
}  // namespace arm

using namespace arm::heapprof::agent;
using arm::heapprof::cli::direct_call_distance;

namespace {

constexpr uint32_t kBtiC = 0xd503245f, kAutia1716 = 0xd503219f, kNop = 0xd503201f;
constexpr uint32_t kAdrpX16NextPage = 0xb0000010, kLdrX17X16At24 = 0xf9400e11, kAddX16X16At24 = 0x91006210,
                   kBrX17 = 0xd61f0220;

template <size_t kBytes>
bool is_interrupted_in_stub(const std::vector<uint32_t>& stub, size_t interrupted) {
  std::vector<uint32_t> words(kBytes / 4, kNop);
  for (size_t i = 0; i < stub.size(); ++i) {
    const size_t at = kStubCodeBefore / 4 + i - interrupted;
    if (at < words.size()) words[at] = stub[i];
  }
  unsigned char code[kBytes];
  std::memcpy(code, words.data(), sizeof code);
  return is_in_stub(code);
}

uint64_t slot_of(const std::vector<uint32_t>& words, uint64_t start_avma) {
  unsigned char code[kCallBytes];
  std::memcpy(code, words.data(), sizeof code);
  return used_slot(code, start_avma + sizeof code);
}

int64_t distance_of(uint32_t instruction) {
  uint8_t code[4];
  std::memcpy(code, &instruction, sizeof code);
  return direct_call_distance(code);
}

}  // namespace

TEST_CASE("every instruction of a stub is recognized, and none beside it") {
  for (const std::vector<uint32_t>& stub :
       {std::vector{kAdrpX16NextPage, kLdrX17X16At24, kAddX16X16At24, kBrX17},
        {kBtiC, kAdrpX16NextPage, kLdrX17X16At24, kAddX16X16At24, kBrX17},
        {kAdrpX16NextPage, kLdrX17X16At24, kAddX16X16At24, kAutia1716, kBrX17},
        {kBtiC, kAdrpX16NextPage, kLdrX17X16At24, kAddX16X16At24, kAutia1716, kBrX17}}) {
    for (size_t at = 0; at < stub.size(); ++at) {
      CAPTURE(stub.size(), at);
      CHECK(is_interrupted_in_stub<kStubCodeBytes>(stub, at));
    }
    CHECK_FALSE(is_interrupted_in_stub<kStubCodeBytes>(stub, stub.size()));
    CHECK_FALSE(is_interrupted_in_stub<kStubCodeBytes>(stub, size_t{0} - 1));  // before it
    std::vector<uint32_t> other = stub;
    other.back() = kNop;
    CHECK_FALSE(is_interrupted_in_stub<kStubCodeBytes>(other, 1));
  }
}

TEST_CASE("the first stub of a table has pushed two registers") {
  const std::vector first{0xa9bf7bf0, kAdrpX16NextPage, kLdrX17X16At24, kAddX16X16At24, kBrX17};
  for (size_t at = 0; at < first.size(); ++at) CHECK_FALSE(is_interrupted_in_stub<kStubCodeBytes>(first, at));
}

TEST_CASE("what code calls or jumps through: stubs, and calls that were compiled without them") {
  CHECK(slot_of({kAdrpX16NextPage, kLdrX17X16At24, kAddX16X16At24}, 0x10000) == 0x11018);
  CHECK(slot_of({0xf0ffffe0, 0xf9400401, 0xd63f0020}, 0x20000) == 0x1f008);  // adrp x0, -1 page; ldr x1; blr x1
  CHECK(slot_of({0xf0ffffe0, 0xf9400401, 0xd61f0020}, 0x20000) == 0x1f008);  // br x1
  CHECK(slot_of({0xf0ffffe0, 0xf9400401, 0xd63f0040}, 0x20000) == 0);        // blr x2
  CHECK(slot_of({0xf0ffffe0, 0xf9400401, kNop}, 0x20000) == 0);              // only loads it
  CHECK(slot_of({kAdrpX16NextPage, kLdrX17X16At24, kAddX16X16At24}, 0x10002) == 0);
}

TEST_CASE("a direct call says its distance from its end") {
  CHECK(distance_of(0x94000040) == 0xfc);  // bl . + 0x100
  CHECK(distance_of(0x97ffffff) == -8);    // bl . - 4
  CHECK(distance_of(0xd63f0000) == 0);     // blr x0
  CHECK(distance_of(0x14000040) == 0);     // b . + 0x100
  CHECK(direct_call_distance({}) == 0);
}

TEST_CASE("code that signal handlers return to") {
  const uint32_t words[] = {0xd2801168, 0xd4000001};
  unsigned char code[kSignalReturnBytes];
  std::memcpy(code, words, sizeof code);
  CHECK(is_signal_return(code));
  for (const size_t byte : {0, 7}) {
    code[byte] ^= 0x20;
    CHECK_FALSE(is_signal_return(code));
    code[byte] ^= 0x20;
  }
}

TEST_CASE("the function that ends a stack of makecontext") {
  const auto ends_stack = [](std::vector<uint32_t> words) {
    unsigned char code[kSwitchBytes];
    std::memcpy(code, words.data(), sizeof code);
    return switches_stack(code);
  };
  CHECK(ends_stack({kNop, 0xaa1303e0, 0xb5fff9c0}));        // nop; mov x0, x19; cbnz x0, setcontext
  CHECK(ends_stack({kBtiC, 0xaa1303e0, 0xb5fff9c0}));       // of a libc with marks for branches
  CHECK_FALSE(ends_stack({kNop, 0xaa1303e0, 0xb5fff9c1}));  // cbnz x1
  CHECK_FALSE(ends_stack({kNop, kNop, 0xb5fff9c0}));
  CHECK(ends_stack({0xaa1303e0, 0xb5fff9c0, kNop}));  // before glibc 2.32
}
