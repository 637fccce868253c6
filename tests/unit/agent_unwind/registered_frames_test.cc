// tests/unit/agent_unwind/registered_frames_test.cc: sections that a JIT compiler registers, well formed and malformed.
#include "agent/unwind/registered_frames.h"

#include <catch2/catch.hpp>
#include <sys/mman.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <vector>

namespace heapprof::agent::test {

namespace {

constexpr uint64_t kCode = 0x5a5a00000000;  // nothing is there: only descriptions are read

// An .eh_frame section as LLVM writes it: pointers count from themselves.
class EhFrame {
 public:
  explicit EhFrame(size_t room_bytes = 4096) : bytes_(room_bytes) {
    put<uint32_t>(20);
    put<uint32_t>(0);
    for (const uint8_t byte :
         std::initializer_list<uint8_t>{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1c, 0x0c, 7, 8, 0x90, 1, 0, 0})
      put(byte);
  }
  // Four bytes of prologue that take 32 of stack, code, and an epilogue of four bytes and a return.
  void add(uint64_t start_avma, uint32_t code_bytes) {
    put<uint32_t>(32);
    put<uint32_t>(static_cast<uint32_t>(size_));
    put<uint64_t>(start_avma - reinterpret_cast<uint64_t>(bytes_.data() + size_));
    put<uint64_t>(code_bytes);
    for (const uint8_t byte : std::initializer_list<uint8_t>{0, 0x44, 0x0e, 40, 0x03, 0, 0, 0x0e, 8, 0, 0, 0})
      put(byte);
    const auto body = static_cast<uint16_t>(code_bytes - 5);
    std::memcpy(bytes_.data() + size_ - 7, &body, sizeof body);
  }
  void end() { put<uint32_t>(0); }
  std::vector<uint8_t>& bytes() { return bytes_; }
  size_t size() const { return size_; }
  const void* data() const { return bytes_.data(); }

 private:
  template <typename T>
  void put(T value) {
    REQUIRE(size_ + sizeof value <= bytes_.size());
    std::memcpy(bytes_.data() + size_, &value, sizeof value);
    size_ += sizeof value;
  }
  std::vector<uint8_t> bytes_;
  size_t size_ = 0;
};

// The distance from sp to the CFA; 0: not described.
int32_t offset_at(uint64_t avma) {
  StepRule rule{};
  if (!find_registered_rule(avma, &rule)) return 0;
  CHECK(rule.kind == RuleKind::kCfaFromSp);
  return rule.cfa_offset_bytes;
}

}  // namespace

TEST_CASE("a registered section gives the rule of each address, until it is deregistered") {
  EhFrame frames;
  frames.add(kCode + 0x1000, 100);
  frames.add(kCode + 0x2000, 100);
  frames.add(kCode, 100);  // in any order
  frames.add(kCode + 0x1800, 100);
  frames.end();
  CHECK(offset_at(kCode + 0x1000) == 0);
  note_registered_frames(frames.data());
  for (const uint64_t start_avma : {kCode, kCode + 0x1000, kCode + 0x1800, kCode + 0x2000}) {
    CHECK(offset_at(start_avma - 1) == 0);
    CHECK(offset_at(start_avma) == 8);
    CHECK(offset_at(start_avma + 3) == 8);
    CHECK(offset_at(start_avma + 4) == 40);
    CHECK(offset_at(start_avma + 98) == 40);
    CHECK(offset_at(start_avma + 99) == 8);
    CHECK(offset_at(start_avma + 100) == 0);
  }
  note_deregistered_frames(&frames);  // another one: nothing happens
  CHECK(offset_at(kCode) == 8);
  note_deregistered_frames(frames.data());
  CHECK(offset_at(kCode) == 0);
  CHECK(offset_at(kCode + 0x1000) == 0);
}

TEST_CASE("the section may be gone, and another one describe the same addresses") {
  auto first = std::make_unique<EhFrame>();
  first->add(kCode, 100);
  first->end();
  note_registered_frames(first->data());
  std::memset(first->bytes().data(), 0xff, first->size());
  CHECK(offset_at(kCode + 50) == 40);
  EhFrame second;
  second.add(kCode + 60, 100);
  second.end();
  note_registered_frames(second.data());
  CHECK(offset_at(kCode + 50) == 0);  // what was there has been replaced
  CHECK(offset_at(kCode + 60) == 8);
  note_deregistered_frames(first->data());
  CHECK(offset_at(kCode + 60) == 8);
  note_deregistered_frames(second.data());
  CHECK(offset_at(kCode + 60) == 0);
}

TEST_CASE("a section that ends at a page that cannot be read, or is none, faults nowhere") {
  const long page = 4096;
  auto* const memory = static_cast<uint8_t*>(
      mmap(nullptr, static_cast<size_t>(2 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory + page, static_cast<size_t>(page), PROT_NONE) == 0);
  EhFrame frames;
  for (int i = 0; i < 20; ++i) frames.add(kCode + 0x1000 * static_cast<uint64_t>(i), 100);
  uint8_t* const at = memory + page - frames.size();  // without its end
  std::memcpy(at, frames.data(), frames.size());
  note_registered_frames(at);
  note_deregistered_frames(at);
  note_registered_frames(memory + page);
  note_registered_frames(reinterpret_cast<const void*>(uint64_t{8}));
  note_registered_frames(reinterpret_cast<const void*>(~uint64_t{7}));
  note_registered_frames(nullptr);
  std::mt19937 random(7);
  for (int round = 0; round < 5000; ++round) {
    std::memcpy(at, frames.data(), frames.size());
    for (int i = 0; i < 5; ++i) at[random() % frames.size()] = static_cast<uint8_t>(random());
    note_registered_frames(at);
    StepRule rule{};
    for (int i = 0; i < 5; ++i) find_registered_rule(kCode + random() % 0x20000, &rule);
    note_deregistered_frames(at);
  }
  CHECK(offset_at(kCode + 50) == 0);
  munmap(memory, static_cast<size_t>(2 * page));
}

TEST_CASE("more sections than there is room for cost their own rules, and give it back") {
  std::vector<std::unique_ptr<EhFrame>> all;
  for (uint64_t i = 0; i < 1100; ++i) {
    all.push_back(std::make_unique<EhFrame>(128));
    all.back()->add(kCode + i * 0x1000, 100);
    all.back()->end();
    note_registered_frames(all.back()->data());
  }
  CHECK(offset_at(kCode + 50) == 40);
  CHECK(offset_at(kCode + 1099 * 0x1000 + 50) == 0);
  for (const auto& frames : all) note_deregistered_frames(frames->data());
  note_registered_frames(all.back()->data());
  CHECK(offset_at(kCode + 1099 * 0x1000 + 50) == 40);
  note_deregistered_frames(all.back()->data());
}

}  // namespace heapprof::agent::test
