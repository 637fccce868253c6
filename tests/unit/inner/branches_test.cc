// tests/unit/inner/branches_test.cc: what leads to the first bytes of a function that is to be hooked.
#include "cli/inner/branches.h"

#include "tests/unit/inner/elf_maker.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

constexpr uint64_t kPatchBytes = 5;
constexpr int kNop = 0x90;

std::vector<int> four_bytes(uint64_t value) {
  std::vector<int> bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<unsigned char>(value >> 8 * i));
  return bytes;
}
// An instruction that ends with a distance.
std::vector<int> relative(std::vector<int> opcode, uint64_t at_svma, uint64_t target_svma) {
  for (const int byte : four_bytes(target_svma - (at_svma + opcode.size() + 4))) opcode.push_back(byte);
  return opcode;
}

// A program of "before", "malloc" (200 bytes), "malloc.cold" and "main", each of nops but for what a test puts there.
class Program {
 public:
  static constexpr uint64_t kBytes = 208;
  enum Part { kBefore, kMalloc, kCold, kMain, kParts };

  Program() : code_(kParts, std::vector<int>(kBytes, kNop)) {
    for (std::vector<int>& part : code_) part.back() = 0xc3;
  }
  uint64_t at(Part part, uint64_t offset = 0) const { return ElfMaker::kCodeSvma + part * kBytes + offset; }
  void put(Part part, uint64_t offset, const std::vector<int>& bytes) {
    std::copy(bytes.begin(), bytes.end(), code_[part].begin() + static_cast<std::ptrdiff_t>(offset));
  }
  std::vector<std::string> refusals(uint64_t patch_bytes = kPatchBytes) const {
    ElfMaker maker;
    const char* const names[] = {"before", "malloc", "malloc.cold", "main"};
    for (size_t i = 0; i < kParts; ++i) maker.add(names[i], code_[i]);
    const MadeFile made(maker.bytes());
    std::optional<CodeFile> file = CodeFile::read(made.fd(), -1);
    REQUIRE((file && file->read_code()));
    const std::vector<HookedFunction> functions = {
        {"malloc", {{at(kMalloc), at(kMalloc, kBytes)}, {at(kCold), at(kCold, kBytes)}}, at(kMalloc, patch_bytes)}};
    return find_branches(*file, functions, {}, {}, PlanningTime(kPlanningNs)).refusals;
  }

 private:
  std::vector<std::vector<int>> code_;
};

const std::vector<std::string> kNone;
const std::vector<std::string> kInto = {"malloc has a branch into its first bytes"};
const std::vector<std::string> kBack = {"malloc has a branch back to its entry"};
const std::vector<std::string> kTable = {"malloc jumps to its first bytes by a table"};
const std::vector<std::string> kAddress = {"malloc has its first bytes addressed by code"};

}  // namespace

TEST_CASE("a branch between the first bytes is found in any function, near or short, of any kind") {
  for (const Program::Part part : {Program::kBefore, Program::kMalloc, Program::kCold, Program::kMain}) {
    for (const std::vector<int>& opcode : std::vector<std::vector<int>>{{0xe8}, {0xe9}, {0x0f, 0x84}, {0x0f, 0x8f}}) {
      Program program;
      CHECK(program.refusals() == kNone);
      program.put(part, 100, relative(opcode, program.at(part, 100), program.at(Program::kMalloc, 3)));
      CHECK(program.refusals() == kInto);
    }
  }
  for (const int opcode : {0xeb, 0x75, 0xe2, 0xe3}) {
    Program behind;
    behind.put(Program::kMalloc, 40, {opcode, (3 - 42) & 0xff});
    CHECK(behind.refusals() == kInto);
    Program before;
    before.put(Program::kBefore, Program::kBytes - 40, {opcode, 38 + 3});
    CHECK(before.refusals() == kInto);
  }
}

TEST_CASE("a branch back to the entry is found in the function and its cold part; from elsewhere it is a call") {
  for (const std::vector<int>& opcode : std::vector<std::vector<int>>{{0xe9}, {0x0f, 0x85}}) {
    for (const Program::Part part : {Program::kMalloc, Program::kCold, Program::kMain}) {
      Program program;
      program.put(part, 100, relative(opcode, program.at(part, 100), program.at(Program::kMalloc)));
      CHECK(program.refusals() == (part == Program::kMain ? kNone : kBack));
    }
  }
  Program loop;
  loop.put(Program::kMalloc, 40, {0x75, (0 - 42) & 0xff});
  CHECK(loop.refusals() == kBack);
  Program recursion;
  recursion.put(Program::kMalloc, 100,
                relative({0xe8}, recursion.at(Program::kMalloc, 100), recursion.at(Program::kMalloc)));
  CHECK(recursion.refusals() == kNone);
}

TEST_CASE("bytes of another instruction that look like a branch are none") {
  Program program;  // mov rax, imm64 with a jump in the number
  std::vector<int> bytes = {0x48, 0xb8};
  for (const int byte : relative({0xe9}, program.at(Program::kMain, 102), program.at(Program::kMalloc, 3)))
    bytes.push_back(byte);
  bytes.resize(10, 0);
  program.put(Program::kMain, 100, bytes);
  CHECK(program.refusals() == kNone);
}

TEST_CASE("code that takes the address of first bytes is found; that of the function itself may be taken") {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{2}}) {
    Program program;
    program.put(Program::kMain, 100,
                relative({0x48, 0x8d, 0x05}, program.at(Program::kMain, 100), program.at(Program::kMalloc, offset)));
    CHECK(program.refusals() == (offset == 0 ? kNone : kAddress));
  }
}

TEST_CASE("a table by which the function jumps to its first bytes is found") {
  // lea rdx, table; jmp rax; the table: distances to two places of the function
  for (const uint64_t second : {uint64_t{0}, uint64_t{3}, uint64_t{50}}) {
    Program program;
    const uint64_t table_svma = program.at(Program::kMain, 8);
    program.put(Program::kMalloc, 20, relative({0x48, 0x8d, 0x15}, program.at(Program::kMalloc, 20), table_svma));
    program.put(Program::kMalloc, 30, {0xff, 0xe0});
    program.put(Program::kMain, 8, four_bytes(program.at(Program::kMalloc, 60) - table_svma));
    program.put(Program::kMain, 12, four_bytes(program.at(Program::kMalloc, second) - table_svma));
    CHECK(program.refusals() == (second == 50 ? kNone : kTable));
  }
  // The same with addresses; one of the function alone, as a table of functions has it, is none of these.
  for (const bool has_neighbour : {true, false}) {
    Program program;
    program.put(Program::kMalloc, 30, {0xff, 0xe0});
    program.put(Program::kMain, 16, four_bytes(program.at(Program::kMalloc)));
    program.put(Program::kMain, 20, {0, 0, 0, 0});
    if (has_neighbour) {
      program.put(Program::kMain, 24, four_bytes(program.at(Program::kMalloc, 60)));
      program.put(Program::kMain, 28, {0, 0, 0, 0});
    }
    CHECK(program.refusals() == (has_neighbour ? kTable : kNone));
  }
}

TEST_CASE("looking for branches ends when its time is over, and says so") {
  ElfMaker maker;
  maker.add("malloc", std::vector<int>(64, kNop));
  const MadeFile made(maker.bytes());
  std::optional<CodeFile> file = CodeFile::read(made.fd(), -1);
  REQUIRE((file && file->read_code()));
  const std::vector<HookedFunction> functions = {
      {"malloc", {{ElfMaker::kCodeSvma, ElfMaker::kCodeSvma + 64}}, ElfMaker::kCodeSvma + kPatchBytes}};
  CHECK(find_branches(*file, functions, {}, {}, PlanningTime(0)).refusals ==
        std::vector<std::string>{"looking through its code takes too long"});
}
