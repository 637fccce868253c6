// tests/unit/inner/prologue_test.cc: first instructions of functions: which can be executed elsewhere, and as what.
#include "cli/inner/prologue.h"

#include "tests/unit/inner/elf_maker.h"

#include <catch2/catch.hpp>

#include <numeric>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

constexpr int kPad = 0x90;

// The function at the start of a file, with another one behind it.
Prologue prologue_of(const std::vector<int>& bytes, bool has_size = true, bool has_neighbour = true) {
  ElfMaker maker;
  const uint64_t entry_svma = maker.add("malloc", bytes, STT_FUNC, has_size);
  if (has_neighbour) maker.add("neighbour", {0xc3});
  const MadeFile file(maker.bytes());
  std::optional<CodeFile> code = CodeFile::read(file.fd(), -1);
  REQUIRE(code);
  REQUIRE(code->read_code());
  return move_prologue(*code, entry_svma, has_size ? bytes.size() : 0);
}

std::vector<int> moved_of(const Prologue& prologue) {
  return {prologue.function.moved, prologue.function.moved + prologue.function.moved_bytes};
}

std::vector<int> padded(std::vector<int> bytes, size_t size) {
  bytes.resize(size - 1, kPad);
  bytes.push_back(0xc3);
  return bytes;
}

}  // namespace

TEST_CASE("plain instructions are copied, and a jump leads behind them") {
  // push rbp; mov rbp, rsp; sub rsp, 16
  const Prologue prologue = prologue_of(padded({0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10}, 40));
  CHECK(prologue.refusal.empty());
  CHECK(prologue.function.patch_svma == ElfMaker::kCodeSvma);
  CHECK(prologue.function.patch_bytes == 8);
  CHECK(moved_of(prologue) == std::vector<int>{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xe9, 0, 0, 0, 0});
  REQUIRE(prologue.function.operand_count == 1);
  CHECK(prologue.function.operands[0].at == 9);
  CHECK(prologue.function.operands[0].end == 13);
  CHECK(prologue.function.operands[0].target_svma == ElfMaker::kCodeSvma + 8);
  CHECK(std::accumulate(prologue.function.original, prologue.function.original + 8, 0) ==
        0x55 + 0x48 + 0x89 + 0xe5 + 0x48 + 0x83 + 0xec + 0x10);
}

TEST_CASE("endbr64 stays at the entry") {
  const Prologue prologue = prologue_of(padded({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x53}, 40));
  CHECK(prologue.refusal.empty());
  CHECK(prologue.function.patch_svma == ElfMaker::kCodeSvma + 4);
  CHECK(prologue.function.patch_bytes == 5);
}

TEST_CASE("memory that is addressed by rip is found from elsewhere") {
  // mov rax, [rip + 0x100]; cmp byte [rip + 0x20], 7: an immediate stands behind the distance
  const Prologue load = prologue_of(padded({0x48, 0x8b, 0x05, 0x00, 0x01, 0, 0}, 40));
  REQUIRE(load.function.operand_count == 2);
  CHECK(load.function.operands[0].target_svma == ElfMaker::kCodeSvma + 7 + 0x100);
  CHECK(load.function.operands[0].at == 3);
  CHECK(load.function.operands[0].end == 7);
  const Prologue compare = prologue_of(padded({0x80, 0x3d, 0x20, 0, 0, 0, 0x07}, 40));
  REQUIRE(compare.function.operand_count == 2);
  CHECK(compare.function.operands[0].target_svma == ElfMaker::kCodeSvma + 7 + 0x20);
  CHECK(compare.function.operands[0].at == 2);
  CHECK(compare.function.operands[0].end == 7);
}

TEST_CASE("short branches become near ones") {
  // test rdi, rdi; je +0x10
  const Prologue condition = prologue_of(padded({0x48, 0x85, 0xff, 0x74, 0x10}, 40));
  CHECK(condition.refusal.empty());
  CHECK(moved_of(condition) == std::vector<int>{0x48, 0x85, 0xff, 0x0f, 0x84, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0});
  CHECK(condition.function.operands[0].target_svma == ElfMaker::kCodeSvma + 5 + 0x10);
  CHECK(condition.function.operands[0].end == 9);
  // jne near, +0x200, behind a prediction hint
  const Prologue near = prologue_of(padded({0x3e, 0x0f, 0x85, 0x00, 0x02, 0, 0}, 40));
  CHECK(near.refusal.empty());
  CHECK(near.function.operands[0].target_svma == ElfMaker::kCodeSvma + 7 + 0x200);
}

TEST_CASE("a function that is a jump to another one is moved as a jump") {
  const Prologue prologue = prologue_of({0xe9, 0x0b, 0, 0, 0});
  CHECK(prologue.refusal.empty());
  CHECK(moved_of(prologue) == std::vector<int>{0xe9, 0, 0, 0, 0});
  CHECK(prologue.function.operands[0].target_svma == ElfMaker::kCodeSvma + 0x10);
  // A short one: what stands between the functions is covered, too.
  const Prologue brief = prologue_of({0xeb, 0x0e});
  CHECK(brief.refusal.empty());
  CHECK(brief.function.patch_bytes == 5);
  CHECK(brief.function.operands[0].target_svma == ElfMaker::kCodeSvma + 0x10);
}

TEST_CASE("a call becomes a push of the address behind it, and a jump") {
  // sub rsp, 8; call +1
  const Prologue direct = prologue_of(padded({0x48, 0x83, 0xec, 0x08, 0xe8, 1, 0, 0, 0}, 40));
  CHECK(direct.refusal.empty());
  CHECK(direct.function.pushes_return == 1);
  CHECK(moved_of(direct) == std::vector<int>{0x48, 0x83, 0xec, 0x08, 0x68, 0, 0,    0, 0, 0xc7, 0x44,
                                             0x24, 0x04, 0,    0,    0,    0, 0xe9, 0, 0, 0,    0});
  REQUIRE(direct.function.operand_count == 3);
  for (size_t i = 0; i < 2; ++i) CHECK(direct.function.operands[i].target_svma == ElfMaker::kCodeSvma + 9);
  CHECK(direct.function.operands[0].value == wire::MovedValue::kLowAddress);
  CHECK(direct.function.operands[1].value == wire::MovedValue::kUpperAddress);
  CHECK(direct.function.operands[2].target_svma == ElfMaker::kCodeSvma + 10);
  // sub rsp, 8; call [rip + 0x40]
  const Prologue slot = prologue_of(padded({0x48, 0x83, 0xec, 0x08, 0xff, 0x15, 0x40, 0, 0, 0}, 40));
  CHECK(slot.refusal.empty());
  CHECK(moved_of(slot) == std::vector<int>{0x48, 0x83, 0xec, 0x08, 0x68, 0,    0,    0, 0, 0xc7, 0x44, 0x24,
                                           0x04, 0,    0,    0,    0,    0xff, 0x25, 0, 0, 0,    0});
  CHECK(slot.function.operands[2].target_svma == ElfMaker::kCodeSvma + 10 + 0x40);
  CHECK(slot.function.operands[2].end == 23);
  // sub rsp, 8; call r11: two bytes with a prefix
  const Prologue pointer = prologue_of(padded({0x48, 0x83, 0xec, 0x08, 0x41, 0xff, 0xd3}, 40));
  CHECK(pointer.refusal.empty());
  CHECK(moved_of(pointer) == std::vector<int>{0x48, 0x83, 0xec, 0x08, 0x68, 0, 0, 0,    0,    0xc7,
                                              0x44, 0x24, 0x04, 0,    0,    0, 0, 0x41, 0xff, 0xe3});
  // sub rsp, 8; call [rsp + 16]: the push would move it
  CHECK(prologue_of(padded({0x48, 0x83, 0xec, 0x08, 0xff, 0x54, 0x24, 0x10}, 40)).refusal ==
        "calls another function in its first bytes");
}

TEST_CASE("what cannot be moved is refused, with the reason") {
  const auto why = [](const std::vector<int>& bytes) { return prologue_of(bytes).refusal; };
  CHECK(why(padded({0xff, 0xd0}, 40)) == "calls another function in its first bytes");
  CHECK(why(padded({0xe3, 0x10}, 40)) == "loops in its first bytes");
  CHECK(why(padded({0xe2, 0x10}, 40)) == "loops in its first bytes");
  CHECK(why(padded({0xc7, 0xf8, 1, 0, 0, 0}, 40)) == "begins a transaction in its first bytes");
  CHECK(why(padded({0x67, 0x8b, 0x05, 1, 0, 0, 0}, 40)) == "addresses memory in a way that cannot be moved");
  CHECK(why(padded({0x06}, 40)) == "begins with bytes that are no known instruction");
}

TEST_CASE("first instructions that lead to themselves, or read themselves, stay where they are") {
  // xor eax, eax; jmp to 2, itself; jmp to 0
  for (const int to : {2, 0}) {
    const int distance = to - 4;
    CHECK(prologue_of(padded({0x31, 0xc0, 0xeb, distance & 0xff}, 40)).refusal == "refers to its first bytes in them");
  }
  // mov rax, [rip - 5]
  CHECK(prologue_of(padded({0x48, 0x8b, 0x05, 0xfb, 0xff, 0xff, 0xff}, 40)).refusal ==
        "refers to its first bytes in them");
}

TEST_CASE("a short function is patched where padding follows it, and nothing else") {
  CHECK(prologue_of({0x31, 0xc0, 0xc3}).refusal.empty());  // xor eax, eax; ret; then nops up to the neighbour
  CHECK(prologue_of({0x31, 0xc0, 0xc3}).function.patch_bytes == 5);
  CHECK(prologue_of({0x31, 0xc0, 0xc3}, true, false).refusal == "is shorter than a jump");  // the file ends here
  // Bytes of nobody that are no padding: data, or a function without a symbol
  ElfMaker maker;
  maker.add("malloc", {0x31, 0xc0, 0xc3, 0x12, 0x34, 0x56});
  maker.add_name("free", ElfMaker::kCodeSvma + 3, 3);
  const MadeFile file(maker.bytes());
  std::optional<CodeFile> code = CodeFile::read(file.fd(), -1);
  REQUIRE((code && code->read_code()));
  CHECK(move_prologue(*code, ElfMaker::kCodeSvma, 3).refusal == "is shorter than a jump");
}

TEST_CASE("a function whose size no symbol tells ends where the next one begins") {
  CHECK(prologue_of(padded({0x55, 0x48, 0x89, 0xe5, 0x53}, 40), false).refusal.empty());
  CHECK(prologue_of({0x55, 0x5d, 0xc3}, false).refusal.empty());
}

TEST_CASE("an address outside of the code is refused") {
  ElfMaker maker;
  maker.add("malloc", {0xc3});
  const MadeFile file(maker.bytes());
  std::optional<CodeFile> code = CodeFile::read(file.fd(), -1);
  REQUIRE((code && code->read_code()));
  for (const uint64_t svma : {uint64_t{0}, uint64_t{0x10}, UINT64_MAX, ElfMaker::kCodeSvma - 1})
    CHECK(move_prologue(*code, svma, 16).refusal == "is not in the program's code");
}
