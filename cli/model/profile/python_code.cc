// cli/model/profile/python_code.cc: the three ways in which CPython has written lines since 3.6. The tables are
// strangers': any bytes lead to some line, and to the end of the table.
#include "cli/model/profile/python_code.h"

#include <algorithm>
#include <string_view>

namespace heapprof::cli {

namespace {

int64_t signed_byte(char byte) { return static_cast<signed char>(byte); }

// Pairs: how many bytes further, how many lines further.
int64_t line_by_lnotab(std::string_view table, int64_t line, uint32_t offset_bytes) {
  uint64_t at = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    at += static_cast<unsigned char>(table[i]);
    if (at > offset_bytes) break;
    line += signed_byte(table[i + 1]);
  }
  return line;
}

// Pairs: the length of a range, and how many lines further it is; -128: it has none.
int64_t line_by_ranges(std::string_view table, int64_t line, uint32_t offset_bytes) {
  uint64_t end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    const int64_t delta = signed_byte(table[i + 1]);
    if (delta != -128) line += delta;
    end += static_cast<unsigned char>(table[i]);
    if (offset_bytes < end) break;
  }
  return line;
}

// Entries: a first byte with a kind and a length in code units, and what the kind needs.
class Locations {
 public:
  explicit Locations(std::string_view table) : left_(table) {}

  int64_t line(int64_t line, uint32_t offset_bytes) {
    uint64_t end = 0;
    while (!left_.empty()) {
      const unsigned first = byte();
      end += 2 * ((first & 7) + 1);
      const unsigned kind = first >> 3 & 15;
      if (kind == 13 || kind == 14) line += signed_number();
      if (kind == 14) {
        for (int i = 0; i < 3; ++i) number();  // the last line, columns
      } else if (kind >= 10 && kind <= 12) {
        line += kind - 10;
        byte();
        byte();
      } else if (kind < 10) {
        byte();
      }
      if (offset_bytes < end) break;
    }
    return line;
  }

 private:
  unsigned byte() {
    if (left_.empty()) return 0;
    const auto value = static_cast<unsigned char>(left_[0]);
    left_.remove_prefix(1);
    return value;
  }
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 60; shift += 6) {
      const unsigned next = byte();
      value |= static_cast<uint64_t>(next & 63) << shift;
      if ((next & 64) == 0) break;
    }
    return value;
  }
  int64_t signed_number() {
    const uint64_t value = number();
    const auto half = static_cast<int64_t>(value >> 1);
    return (value & 1) != 0 ? -half : half;
  }

  std::string_view left_;
};

}  // namespace

uint32_t line_of(const PythonCode& code, uint32_t offset_bytes) {
  int64_t line = code.first_line;
  if (code.minor <= 9) {
    line = line_by_lnotab(code.table, line, offset_bytes);
  } else if (code.minor == 10) {
    line = line_by_ranges(code.table, line, offset_bytes);
  } else {
    line = Locations(code.table).line(line, offset_bytes);
  }
  return line > 0 && line <= UINT32_MAX ? static_cast<uint32_t>(line) : code.first_line;
}

}  // namespace heapprof::cli
