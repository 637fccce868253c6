// tests/unit/agent_python/layout_test.cc: the offsets that interpreters tell of themselves, from their own memory.
#include "agent/python/layout.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

using namespace heapprof::agent;

namespace {

using Words = std::array<uint64_t, kOffsetWords>;
constexpr uint64_t kCookie = 0x7970677562656478;  // "xdebugpy"

// The first words of _PyRuntime in Debian's and pyenv's builds for x86-64. 3.13 has fewer offsets than are looked at:
// what follows is not read.
constexpr Words kPython3130 = {
    kCookie, 0x30d00f0, 0,    0x452b8, 608, 632, 0x2f998, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16,
    7752,    0,         7768, 7760,    304, 0,   8,       16,   72,   152,  160,  232,  32,   80,   8,
    0,       56,        72,   70,      208, 112, 120,     128,  136,  68,   52,   96,   104,  200,  16,
    8,       416,       24,   88,      168, 32,  24,      16,   40,   24,   16,   48,   32,   40,   24,
    16,      32,        16,   24,      40,  16,  32,      64,   32,   16,   40,   240,  200};
constexpr Words kPython31410 = {
    kCookie, 0x30e0af0, 0,    0x4d4c8, 784,  808, 0x37248, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16,
    7784,    0,         7800, 7792,    7992, 0,   832,     0,    8,    16,   72,   152,  160,  232,  32,   88,
    8,       0,         56,   80,      74,   64,  0,       216,  112,  120,  128,  136,  68,   52,   96,   104,
    208,     0,         16,   8,       416,  24,  88,      168,  40,   32,   16,   40,   24,   16,   200,  24,
    40,      32,        48,   32,      40,   24,  16,      32,   16,   24,   40,   16,   32,   64,   32,   16,
    40,      264,       192,  160,     24,   72,  67,      0,    8,    24,   304,  8076, 0,    4};
constexpr Words kPython3152 = {
    kCookie, 0x30f02f0, 0,    0x549c8, 912,  936, 0x373c0, 7272, 7264, 7336, 7352, 7400, 7592, 7576, 7584, 16,
    7736,    0,         7752, 7744,    7944, 0,   888,     0,    8,    16,   72,   80,   88,   96,   176,  184,
    256,     32,        36,   40,      136,  288, 0,       88,   8,    0,    56,   80,   74,   64,   0,    216,
    112,     120,       128,  136,     68,   52,  96,      104,  208,  0,    16,   8,    424,  24,   88,   168,
    32,      288,       944,  888,     40,   32,  16,      40,   24,   16,   200,  24,   40,   32,   48,   32,
    40,      24,        16,   32,      16,   24,  40,      16,   32,   64,   32,   16,   40,   56};

bool read(const Words& words, uint16_t minor, PythonLayout* layout) {
  uint64_t raw[kOffsetWords];
  std::copy(words.begin(), words.end(), raw);
  return read_layout(raw, minor, layout);
}

// That of 3.13 as the headers have it; 3.14 and 3.15 differ in what is named.
void expect_fields(const PythonLayout& layout, uint16_t owner, uint16_t code_start) {
  CHECK(layout.entry == PythonEntry::kShim);
  CHECK(layout.instruction_scale == 0);
  CHECK(layout.thread_top == 72);
  CHECK(layout.thread_c_frame == kNoField);
  CHECK(layout.frame_previous == 8);
  CHECK(layout.frame_code == 0);
  CHECK(layout.frame_instruction == 56);
  CHECK(layout.frame_owner == owner);
  CHECK(layout.object_type == 8);
  CHECK(layout.code_file == 112);
  CHECK(layout.code_function == 128);
  CHECK(layout.code_table == 136);
  CHECK(layout.code_first_line == 68);
  CHECK(layout.code_start == code_start);
  CHECK(layout.bytes_size == 16);
  CHECK(layout.bytes_data == 32);
  CHECK(layout.text_length == 16);
  CHECK(layout.text_state == 32);
  CHECK(layout.ascii_data == 40);
  CHECK(layout.wide_data == 56);
}

}  // namespace

TEST_CASE("an interpreter tells its offsets") {
  PythonLayout layout;
  REQUIRE(read(kPython3130, 13, &layout));
  expect_fields(layout, 70, 200);
  CHECK(layout.frame_bytes == 80);
  REQUIRE(read(kPython31410, 14, &layout));
  expect_fields(layout, 74, 208);
  CHECK(layout.frame_bytes == 88);
  REQUIRE(read(kPython3152, 15, &layout));
  expect_fields(layout, 74, 208);
  CHECK(layout.frame_copy == kNoField);
  CHECK(layout.code_copies == kNoField);
  CHECK(layout.text_kind_shift == 2);
}

TEST_CASE("a free-threaded interpreter has copies of its code, and another state of texts") {
  Words words = kPython31410;
  words[2] = 1;
  words[38] = 72;   // interpreter_frame.tlbc_index
  words[36] = 78;   // .owner
  words[49] = 208;  // code_object.co_tlbc
  words[48] = 216;  // .co_code_adaptive
  PythonLayout layout;
  REQUIRE(read(words, 14, &layout));
  CHECK(layout.frame_copy == 72);
  CHECK(layout.code_copies == 208);
  CHECK(layout.code_start == 216);
  CHECK(layout.text_kind_shift == 8);
}

TEST_CASE("the words of another version, or of none, are refused") {
  PythonLayout layout;
  CHECK_FALSE(read(kPython3130, 14, &layout));
  CHECK_FALSE(read(kPython3152, 14, &layout));
  CHECK_FALSE(read(kPython31410, 12, &layout));
  CHECK_FALSE(read(kPython3152, 16, &layout));  // a version whose order is not known
  CHECK_FALSE(read(Words{}, 13, &layout));
  Words words = kPython3130;
  words[0] ^= 1;
  CHECK_FALSE(read(words, 13, &layout));
}

TEST_CASE("offsets that cannot be true are refused") {
  PythonLayout layout;
  // tstate.current_frame, frame.size, .previous, .executable, .instr_ptr, .owner, code.filename, .qualname, .linetable,
  // .co_code_adaptive
  for (const size_t word : {23, 28, 29, 30, 31, 33, 35, 37, 38, 43}) {
    for (const uint64_t value : {uint64_t{4096}, ~uint64_t{0}, uint64_t{1} << 32}) {
      Words words = kPython3130;
      words[word] = value;
      CAPTURE(word, value);
      CHECK_FALSE(read(words, 13, &layout));
    }
  }
  for (const size_t word : {23, 29, 30, 31, 35, 37, 38}) {  // pointers lie at multiples of 8
    Words words = kPython3130;
    words[word] += 3;
    CAPTURE(word);
    CHECK_FALSE(read(words, 13, &layout));
  }
}

// Whatever is believed keeps to what is asked of the memory before it is read.
TEST_CASE("of any words only those are believed that stay within what is read") {
  std::mt19937_64 random(4711);
  int believed = 0;
  for (int round = 0; round < 200000; ++round) {
    Words words = kPython31410;
    for (uint64_t changes = 1 + random() % 4; changes > 0; --changes)
      words[2 + random() % (kOffsetWords - 2)] = random() % 3 == 0 ? random() : random() % 512;
    PythonLayout layout;
    if (!read(words, 14, &layout)) continue;
    ++believed;
    REQUIRE(layout.frame_bytes <= 256);
    for (const uint16_t field : {layout.frame_previous, layout.frame_code, layout.frame_instruction})
      REQUIRE(field + 8 <= layout.frame_bytes);
    REQUIRE(layout.frame_owner < layout.frame_bytes);
    for (const uint16_t field : {layout.code_file, layout.code_function, layout.object_type})
      REQUIRE(field + 8 <= layout.code_table + 8);
    REQUIRE(layout.code_first_line + 4 <= layout.code_table + 8);
  }
  CHECK(believed > 1000);
}

TEST_CASE("versions before 3.13 have tables, and what is older or newer has none") {
  for (uint16_t minor = 8; minor <= 12; ++minor) CHECK(layout_of_version(minor) != nullptr);
  for (const uint16_t minor : std::initializer_list<uint16_t>{0, 7, 13, 16}) CHECK(layout_of_version(minor) == nullptr);
  CHECK(layout_of_version(10)->instruction_scale == 2);
  CHECK(layout_of_version(11)->entry == PythonEntry::kFlag);
}
