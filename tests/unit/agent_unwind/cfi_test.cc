// tests/unit/agent_unwind/cfi_test.cc: call frame programs, expressions and tables, well formed and malformed.
#include "agent/process/loaded_object.h"
#include "agent/unwind/byte_reader.h"
#include "agent/unwind/cfi_program.h"
#include "agent/unwind/dwarf_expression.h"
#include "agent/unwind/eh_frame.h"
#include "agent/unwind/unwind_rule.h"

#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <cstring>
#include <random>
#include <vector>

namespace heapprof::agent::test {

namespace {

using Bytes = std::vector<uint8_t>;

FrameDescription describe(const Bytes& initial, const Bytes& program) {
  FrameDescription description{};
  description.start_avma = 1000;
  description.end_avma = 2000;
  description.initial_program = initial.data();
  description.initial_program_end = initial.data() + initial.size();
  description.program = program.data();
  description.program_end = program.data() + program.size();
  description.readable_end = program.data() + program.size();
  description.code_alignment = 1;
  description.data_alignment = -8;
  description.return_register = kRegisterPc;
  return description;
}

const Bytes kUsualInitial{0x0c, 7, 8, 0x80 + 16, 1};  // CFA = rsp + 8, return address at CFA − 8

Evaluation evaluate(const Bytes& code, uint64_t* result, const uint64_t* initial = nullptr, uint32_t known = ~0u) {
  Bytes block{static_cast<uint8_t>(code.size())};
  block.insert(block.end(), code.begin(), code.end());
  Registers registers{};
  registers.known = known;
  for (uint32_t i = 0; i < kRegisterCount; ++i) registers.value[i] = 1000 * i;
  KnownStacks stacks;
  CfiWorkspace workspace;
  workspace.stacks = &stacks;
  return evaluate_expression(block.data(), block.data() + block.size(), registers, initial, &workspace, result);
}

uint64_t value_of(const Bytes& code) {
  uint64_t result = 0;
  REQUIRE(evaluate(code, &result) == Evaluation::kDone);
  return result;
}

// A copy of an object's unwind table that ends at a page that cannot be read, and begins after one.
class FencedTable {
 public:
  explicit FencedTable(const ModuleInfo& original) {
    const uint64_t size_bytes = original.table_end_avma - original.table_start_avma;
    mapped_bytes_ = ((size_bytes + 4095) & ~uint64_t{4095}) + 8192;
    base_ = static_cast<uint8_t*>(mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    mprotect(base_ + 4096, mapped_bytes_ - 8192, PROT_READ | PROT_WRITE);
    table_ = base_ + mapped_bytes_ - 4096 - size_bytes;
    memcpy(table_, reinterpret_cast<const void*>(original.table_start_avma), size_bytes);
    moved_by_ = reinterpret_cast<uint64_t>(table_) - original.table_start_avma;
    module = original;
    module.table_start_avma += moved_by_;
    module.table_end_avma += moved_by_;
    module.eh_frame_hdr += moved_by_;
  }
  ~FencedTable() { munmap(base_, mapped_bytes_); }
  FencedTable(const FencedTable&) = delete;
  FencedTable& operator=(const FencedTable&) = delete;

  // Tables are relative to themselves, so a copy describes code that is as far away as the copy is.
  uint64_t moved(uint64_t pc_avma) const { return pc_avma + moved_by_; }
  uint8_t* header() const { return const_cast<uint8_t*>(module.eh_frame_hdr); }
  uint64_t bytes_after_header() const {
    return module.table_end_avma - reinterpret_cast<uint64_t>(module.eh_frame_hdr);
  }

  ModuleInfo module;

 private:
  uint8_t* base_;
  uint8_t* table_;
  uint64_t mapped_bytes_;
  uint64_t moved_by_;
};

// In libc itself: a sanitizer may have a function of the same name before it.
uint64_t libc_function(const char* name) {
  return reinterpret_cast<uint64_t>(dlsym(dlopen("libc.so.6", RTLD_NOW), name));
}

LoadedObject libc() {
  init_find_object();
  LoadedObject object;
  REQUIRE(find_object(libc_function("qsort"), &object));
  REQUIRE(object.info.eh_frame_hdr != nullptr);
  return object;
}

}  // namespace

TEST_CASE("a row is what holds at the address", "[cfi]") {
  // push rbp at 1001, mov rbp, rsp at 1004, the rest runs on with CFA by rbp
  const Bytes program{0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 100, 0x0c, 7, 8, 0xc6};
  const FrameDescription description = describe(kUsualInitial, program);
  KnownStacks stacks;
  CfiWorkspace workspace;
  workspace.stacks = &stacks;
  const auto row_at = [&](uint64_t pc_avma) -> const CfiRow& {
    REQUIRE(run_cfi_program(description, pc_avma, &workspace));
    return workspace.row;
  };
  CHECK(row_at(1000).cfa_register == 7);
  CHECK(row_at(1000).cfa_offset == 8);
  CHECK(row_at(1000).rules[6] == RegisterRule::kUnspecified);
  CHECK(row_at(1001).cfa_offset == 16);
  CHECK(row_at(1003).rules[6] == RegisterRule::kOffset);
  CHECK(row_at(1003).values[6] == -16);
  CHECK(row_at(1004).cfa_register == 6);
  CHECK(row_at(1103).cfa_register == 6);
  CHECK(row_at(1104).cfa_register == 7);
  CHECK(row_at(1104).rules[6] == RegisterRule::kUnspecified);
  CHECK(row_at(1104).rules[16] == RegisterRule::kOffset);
}

TEST_CASE("remembered rows come back, CFA included", "[cfi]") {
  const Bytes program{0x0a, 0x0e, 64, 0x83, 3, 0x41, 0x0a, 0x0d, 6, 0x41, 0x0b, 0x41, 0x0b};
  const FrameDescription description = describe(kUsualInitial, program);
  KnownStacks stacks;
  CfiWorkspace workspace;
  workspace.stacks = &stacks;
  REQUIRE(run_cfi_program(description, 1002, &workspace));
  CHECK(workspace.row.cfa_register == 7);
  CHECK(workspace.row.cfa_offset == 64);
  REQUIRE(run_cfi_program(description, 1003, &workspace));
  CHECK(workspace.row.cfa_offset == 8);
  CHECK(workspace.row.rules[3] == RegisterRule::kUnspecified);
}

TEST_CASE("every kind of rule is read", "[cfi]") {
  const Bytes program{0x05, 3,  2,           // rbx at CFA − 16
                      0x11, 12, 0x7e,        // r12 at CFA + 16
                      0x14, 13, 3,           // r13 is CFA − 24
                      0x15, 14, 0x7d,        // r14 is CFA + 24
                      0x09, 15, 0,           // r15 is in rax
                      0x07, 1,  0x08, 2,     // rdx undefined, rcx same
                      0x2f, 8,  2,           // r8 at CFA + 16
                      0x10, 4,  1,    0x30,  // rsi at an expression
                      0x16, 5,  1,    0x31,  // rdi is an expression
                      0x2e, 16,              // size of arguments
                      0x12, 6,  0x7f,        // CFA = rbp + 8
                      0x85, 9,  0x00};       // rdi again; nop
  const FrameDescription description = describe(kUsualInitial, program);
  KnownStacks stacks;
  CfiWorkspace workspace;
  workspace.stacks = &stacks;
  REQUIRE(run_cfi_program(description, 1500, &workspace));
  const CfiRow& row = workspace.row;
  CHECK((row.rules[3] == RegisterRule::kOffset && row.values[3] == -16));
  CHECK((row.rules[12] == RegisterRule::kOffset && row.values[12] == 16));
  CHECK((row.rules[13] == RegisterRule::kValueOffset && row.values[13] == -24));
  CHECK((row.rules[14] == RegisterRule::kValueOffset && row.values[14] == 24));
  CHECK((row.rules[15] == RegisterRule::kRegister && row.values[15] == 0));
  CHECK(row.rules[1] == RegisterRule::kUndefined);
  CHECK(row.rules[2] == RegisterRule::kSame);
  CHECK((row.rules[8] == RegisterRule::kOffset && row.values[8] == 16));
  CHECK(row.rules[4] == RegisterRule::kExpression);
  CHECK((row.rules[5] == RegisterRule::kOffset && row.values[5] == -72));
  CHECK((row.cfa_register == 6 && row.cfa_offset == 8));
}

TEST_CASE("malformed programs are refused", "[cfi]") {
  KnownStacks stacks;
  CfiWorkspace workspace;
  workspace.stacks = &stacks;
  for (const Bytes& program :
       {Bytes{0x0b}, Bytes{0x3f}, Bytes{0x0c, 7}, Bytes{0x0f, 100, 1}, Bytes{0x0e, 0x80, 0x80}}) {
    CHECK_FALSE(run_cfi_program(describe(kUsualInitial, program), 1500, &workspace));
  }
  CHECK_FALSE(run_cfi_program(describe(kUsualInitial, Bytes(kMaxRememberedRows + 1, 0x0a)), 1500, &workspace));
}

TEST_CASE("expressions compute", "[cfi]") {
  CHECK(value_of({0x31, 0x32, 0x22}) == 3);                         // 1 + 2
  CHECK(value_of({0x77, 8}) == 7008);                               // rsp + 8
  CHECK(value_of({0x92, 6, 0x78}) == 5992);                         // rbp − 8
  CHECK(value_of({0x56}) == 6000);                                  // rbp
  CHECK(value_of({0x35, 0x33, 0x1c}) == 2);                         // 5 − 3
  CHECK(value_of({0x09, 0xf9, 0x32, 0x1b}) == uint64_t(-3));        // −7 / 2
  CHECK(value_of({0x37, 0x32, 0x1d}) == 1);                         // 7 mod 2
  CHECK(value_of({0x09, 0xf8, 0x31, 0x26}) == uint64_t(-4));        // −8 >> 1, signed
  CHECK(value_of({0x09, 0xff, 0x08, 60, 0x25}) == 15);              // −1 >> 60, unsigned
  CHECK(value_of({0x31, 0x32, 0x33, 0x17, 0x14, 0x22}) == 3);       // 1 2 3 → 3 1 2 → 3 1 2 1 → 3 1 3
  CHECK(value_of({0x31, 0x32, 0x16, 0x1c}) == 1);                   // 2 − 1
  CHECK(value_of({0x31, 0x28, 1, 0, 0x30, 0x35}) == 5);             // a branch taken
  CHECK(value_of({0x09, 0xff, 0x31, 0x2d}) == 1);                   // −1 < 1
  CHECK(value_of({0x0a, 0x34, 0x12, 0x23, 0x80, 0x01}) == 0x12b4);  // 0x1234 + 128
  CHECK(value_of({0x80, 11, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24}) == 0);
  uint64_t result = 0;
  const uint64_t cfa = 4711;
  CHECK(evaluate({0x31, 0x22}, &result, &cfa) == Evaluation::kDone);
  CHECK(result == 4712);
  const uint64_t word = 0x1122334455667788;
  Bytes load{0x03};
  for (unsigned i = 0; i < 8; ++i) load.push_back(static_cast<uint8_t>(reinterpret_cast<uint64_t>(&word) >> 8 * i));
  Bytes load_half = load;
  load.push_back(0x06);
  CHECK(value_of(load) == word);
  load_half.insert(load_half.end(), {0x94, 4});
  CHECK(value_of(load_half) == 0x55667788);
}

TEST_CASE("expressions that cannot be computed are refused", "[cfi]") {
  uint64_t result = 0;
  CHECK(evaluate({0x73, 0}, &result, nullptr, 0) == Evaluation::kUnknownRegister);
  CHECK(evaluate({}, &result) == Evaluation::kMalformed);
  CHECK(evaluate({0x22}, &result) == Evaluation::kMalformed);              // empty stack
  CHECK(evaluate({0x31, 0x30, 0x1b}, &result) == Evaluation::kMalformed);  // division by 0
  CHECK(evaluate({0x2f, 0xfd, 0xff}, &result) == Evaluation::kMalformed);  // a loop without end
  CHECK(evaluate({0x2f, 0x00, 0x10}, &result) == Evaluation::kMalformed);  // a jump out of the expression
  CHECK(evaluate({0x31, 0x06}, &result) == Evaluation::kMalformed);        // nothing can be mapped at 1
  CHECK(evaluate({0x0e, 1, 2, 3}, &result) == Evaluation::kMalformed);     // cut off
  CHECK(evaluate({0xe0}, &result) == Evaluation::kMalformed);              // not an operation of ours
  CHECK(evaluate(Bytes(kMaxExpressionDepth + 1, 0x31), &result) == Evaluation::kMalformed);
}

TEST_CASE("a table without a sorted index is scanned", "[cfi]") {
  FencedTable table(libc().info);
  const uint64_t pc_avma = libc_function("__libc_start_main") + 20;
  FrameDescription sorted{};
  REQUIRE(find_description(table.module, table.moved(pc_avma), &sorted));
  table.header()[2] = kPointerOmitted;  // no count
  FrameDescription scanned{};
  REQUIRE(find_description(table.module, table.moved(pc_avma), &scanned));
  CHECK(scanned.start_avma == sorted.start_avma);
  CHECK(scanned.program == sorted.program);
  table.header()[0] = 9;  // a version that nobody knows
  CHECK_FALSE(find_description(table.module, table.moved(pc_avma), &scanned));
}

TEST_CASE("a malformed table is never read beyond its memory", "[cfi]") {
  const LoadedObject object = libc();
  std::mt19937_64 random(20240611);
  KnownStacks stacks;
  CfiWorkspace workspace;
  workspace.stacks = &stacks;
  uint64_t described = 0;
  for (int round = 0; round < 40; ++round) {
    FencedTable table(object.info);
    const uint64_t bytes = table.bytes_after_header();
    for (int i = 0; i < 200; ++i)
      table.header()[random() % std::min<uint64_t>(bytes, 12)] = static_cast<uint8_t>(random());
    if (round % 4 != 0) {  // a sound header, so that the entries are reached
      memcpy(table.header(), object.info.eh_frame_hdr, 12);
    }
    for (uint64_t i = 0; i < bytes / 20; ++i)
      table.header()[12 + random() % (bytes - 12)] = static_cast<uint8_t>(random());
    for (int i = 0; i < 3000; ++i) {
      const uint64_t pc_avma =
          table.moved(object.info.start_avma + random() % (object.info.end_avma - object.info.start_avma));
      FrameDescription description{};
      if (!find_description(table.module, pc_avma, &description)) continue;
      ++described;
      run_cfi_program(description, pc_avma, &workspace);
    }
  }
  CHECK(described > 1000);
}

}  // namespace heapprof::agent::test
