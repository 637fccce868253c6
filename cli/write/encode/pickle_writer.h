// cli/write/encode/pickle_writer.h: Python's pickle format, protocol 4, as far as PyTorch's snapshot viewer reads it.
//
// Guarantees
//  - Only these opcodes: PROTO, EMPTY_DICT, EMPTY_LIST, MARK, SETITEMS, APPENDS, SHORT_BINUNICODE, BINUNICODE, BININT1,
//    BININT2, BININT, LONG1, NEWTRUE, NEWFALSE, TUPLE2, BINPUT, LONG_BINPUT, BINGET, LONG_BINGET, STOP.
//  - No call and no class: loading it runs no code.
//  - Text is valid UTF-8 without control characters; each text is written once, and then referred to.
// Cost:     a table entry for each different text.
#pragma once

#include "cli/base/byte_sink.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

class PickleWriter {
 public:
  explicit PickleWriter(ByteSink* sink);

  void begin_dict();
  void key(std::string_view name);  // before each value of a dict
  void end_dict();
  void begin_list();
  void next_element();  // before each value of a list
  void end_list();
  void text(std::string_view text);
  void number(uint64_t value);  // pre: below 2^63
  void minus_one();
  void boolean(bool value);
  void pair(uint64_t a, uint64_t b);

  // Members of a dict.
  void text(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void number(std::string_view name, uint64_t value) {
    key(name);
    number(value);
  }

  // Called right after begin_…() of a list or dict that will be needed again. Returns the argument for again().
  uint32_t remember();
  void again(uint32_t remembered);

  void finish();

 private:
  void put(unsigned char byte) { buffer_.push_back(static_cast<char>(byte)); }
  void put_little_endian(uint64_t value, int bytes);
  void begin_value(uint32_t most);

  ByteSink* sink_;
  std::string buffer_;
  std::unordered_map<std::string, uint32_t> texts_;
  uint32_t next_memo_ = 0;
  std::vector<uint32_t> pending_;  // for each open list or dict: values after its last mark
};

}  // namespace heapprof::cli
