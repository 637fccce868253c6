// tests/unit/model/python_code_test.cc: the lines of instructions, in CPython's three formats, and looked up in any
// order.
#include "cli/model/profile/python_code.h"

#include <catch2/catch.hpp>

#include <random>
#include <string>

using namespace heapprof::cli;

namespace {

PythonCode code_of(uint16_t minor, std::string table) { return {"/src/m.py", "f", 10, minor, std::move(table)}; }

}  // namespace

TEST_CASE("lines of instructions, in the three formats") {
  // Objects/lnotab_notes.txt: (bytes, lines) steps; a step of -1 goes back.
  const PythonCode steps = code_of(8, std::string("\x06\x01\x04\xff\x02\x03", 6));
  CHECK(line_of(steps, 0) == 10);
  CHECK(line_of(steps, 5) == 10);
  CHECK(line_of(steps, 6) == 11);
  CHECK(line_of(steps, 10) == 10);
  CHECK(line_of(steps, 12) == 13);
  CHECK(line_of(steps, 400) == 13);
  // (length, lines); -128 has no line of its own.
  const PythonCode ranges = code_of(10, std::string("\x04\x00\x02\x05\x02\x80\x06\xfe", 8));
  CHECK(line_of(ranges, 3) == 10);
  CHECK(line_of(ranges, 4) == 15);
  CHECK(line_of(ranges, 6) == 15);
  CHECK(line_of(ranges, 8) == 13);
  // Objects/locations.md: short (0-9, one byte more), one line (10-12, two), no columns (13), long (14), none (15).
  const PythonCode locations = code_of(11, std::string("\x81\x22"              // 4 bytes of line 10
                                                       "\xd8\x01\x02"          // 2 of line 11
                                                       "\xe8\x09"              // 2: 4 lines back
                                                       "\xf0\x0a\x01\x02\x03"  // 2: 5 lines on
                                                       "\xf9",                 // 4 without one
                                                       13));
  CHECK(line_of(locations, 0) == 10);
  CHECK(line_of(locations, 3) == 10);
  CHECK(line_of(locations, 4) == 11);
  CHECK(line_of(locations, 6) == 7);
  CHECK(line_of(locations, 8) == 12);
  CHECK(line_of(locations, 10) == 12);
  CHECK(line_of(locations, 99) == 12);
}

TEST_CASE("a look-up that goes on from another says the same, whatever the table") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const auto minor = static_cast<uint16_t>(8 + round % 6);
    std::string table(random() % 60, '\0');
    for (char& byte : table) byte = static_cast<char>(random() % 3 == 0 ? random() : 0x80 | random() % 128);
    const PythonCode code = code_of(minor, table);
    LineCursor cursor;
    for (int i = 0; i < 30; ++i) {
      const auto offset = static_cast<uint32_t>(random() % (i % 2 == 0 ? 40 : 300));
      INFO("minor " << minor << " offset " << offset);
      CHECK(line_of(code, offset, &cursor) == line_of(code, offset));
    }
  }
}
