// cli/write/html/page_blocks.h: the format of the page's data: blocks of columns of numbers, packed, in elements that
// no browser runs.
//
// A block is an element <script type="application/octet-stream" id="NAME"> with base64 of gzip of its bytes. A number
// is LEB128 (7 bits a byte, the lowest first); one that may decrease is zigzag. Columns are stored one after the other;
// a count before them gives their length. cli/page/src/data/columns.ts reads them. Reader and writer are of the same
// build, so the format has no version.
//
// Guarantees
//  - No data of the profile can end the element: base64 has no "<".
//  - Numbers above 2^53 - 1, which the page cannot represent, are written as 2^53 - 1.
#pragma once

#include "cli/base/byte_sink.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace heapprof::cli {

// The bytes of a block before they are packed.
class PageColumns {
 public:
  static constexpr uint64_t kMost = (uint64_t{1} << 53) - 1;

  void add(uint64_t value) {
    for (value = std::min(value, kMost); value >= 128; value >>= 7) bytes_.push_back(static_cast<char>(value | 128));
    bytes_.push_back(static_cast<char>(value));
  }
  void add_signed(int64_t value) {
    add(value < 0 ? (static_cast<uint64_t>(-(value + 1)) << 1 | 1) : static_cast<uint64_t>(value) << 1);
  }
  // One number of(row) for each of `rows`.
  template <typename Rows, typename Of>
  void column(const Rows& rows, const Of& of) {
    for (const auto& row : rows) add(of(row));
  }
  // Likewise, but as the difference from the row before.
  template <typename Rows, typename Of>
  void deltas(const Rows& rows, const Of& of) {
    int64_t before = 0;
    for (const auto& row : rows) {
      const int64_t value = static_cast<int64_t>(std::min<uint64_t>(of(row), kMost));
      add_signed(value - before);
      before = value;
    }
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Gives each text a number; the empty text has 0.
class PageTexts {
 public:
  PageTexts() { number_of(""); }
  uint32_t number_of(const std::string& text) {
    return numbers_.emplace(text, static_cast<uint32_t>(numbers_.size())).first->second;
  }
  // All texts as a JSON list, in the order of their numbers.
  std::string json() const;

 private:
  std::map<std::string, uint32_t> numbers_;
};

void write_page_block(std::string_view name, std::string_view bytes, ByteSink* sink);

}  // namespace heapprof::cli
