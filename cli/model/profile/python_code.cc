// cli/model/profile/python_code.cc: the three formats in which CPython has written lines since 3.6. The tables are
// untrusted: any bytes give a line, and reading stops at the end of the table.
#include "cli/model/profile/python_code.h"

#include <string_view>

namespace heapprof::cli {

namespace {

// An entry of a table: the end of its range of instructions, and the lines that it adds.
struct Entry {
  uint64_t end = 0;
  int64_t lines = 0;
};

class Reader {
 public:
  Reader(std::string_view table, size_t at) : table_(table), at_(at) {}

  size_t at() const { return at_; }

  // Python 3.10: pairs of a range's length and its line increment; -128: no line.
  Entry range(uint64_t begin) {
    const uint64_t end = begin + byte();
    const int64_t lines = signed_byte();
    return {end, lines == -128 ? 0 : lines};
  }
  // Up to 3.9: pairs of a number of bytes and the line increment that applies after them.
  Entry step(uint64_t begin) {
    const uint64_t end = begin + byte();
    return {end, signed_byte()};
  }
  // From 3.11: a first byte with a kind and a length in code units, then the data of that kind.
  Entry location(uint64_t begin) {
    const unsigned first = byte();
    Entry entry{begin + 2 * ((first & 7) + 1), 0};
    const unsigned kind = first >> 3 & 15;
    if (kind == 13 || kind == 14) entry.lines = signed_number();
    if (kind == 14) {
      for (int i = 0; i < 3; ++i) number();  // the last line, columns
    } else if (kind >= 10 && kind <= 12) {
      entry.lines = kind - 10;
      byte();
      byte();
    } else if (kind < 10) {
      byte();
    }
    return entry;
  }

 private:
  unsigned byte() { return at_ < table_.size() ? static_cast<unsigned char>(table_[at_++]) : 0; }
  int64_t signed_byte() { return static_cast<signed char>(byte()); }
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

  std::string_view table_;
  size_t at_;
};

}  // namespace

uint32_t line_of(const PythonCode& code, uint32_t offset_bytes, LineCursor* cursor) {
  if (offset_bytes < cursor->begin) *cursor = {};
  const bool has_pairs = code.minor <= 10;
  const bool has_steps = code.minor <= 9;
  auto lines = static_cast<uint64_t>(cursor->lines);  // modulo 2^64: a table may have any numbers
  while (cursor->at + (has_pairs ? 1 : 0) < code.table.size()) {
    Reader reader(code.table, cursor->at);
    const Entry entry = has_steps   ? reader.step(cursor->begin)
                        : has_pairs ? reader.range(cursor->begin)
                                    : reader.location(cursor->begin);
    if (has_steps && offset_bytes < entry.end) break;
    lines += static_cast<uint64_t>(entry.lines);
    if (offset_bytes < entry.end) break;
    *cursor = {reader.at(), entry.end, static_cast<int64_t>(lines)};
  }
  const auto line = static_cast<int64_t>(code.first_line + lines);
  return line > 0 && line <= UINT32_MAX ? static_cast<uint32_t>(line) : code.first_line;
}

uint32_t line_of(const PythonCode& code, uint32_t offset_bytes) {
  LineCursor cursor;
  return line_of(code, offset_bytes, &cursor);
}

}  // namespace heapprof::cli
