// cli/read/json_pull.h: a pull parser for JSON: the caller asks for the next element.
//
// RapidJSON's reader pushes events (the version in Debian 12 has no pull mode) and lets one string grow without bound;
// a profile has thirty kinds of objects, and pulling code mirrors the format that it reads.
//
// Guarantees
//  - Strict JSON (RFC 8259): no comments, no trailing commas, strings are valid UTF-8.
//  - The first error is kept; from then on every call returns at once with false, 0 or the end of its array or object.
//  - Bounded: nesting to 64 levels, strings to 16 MiB, integers to 64 bits.
// Trust:    every byte is hostile.
#pragma once

#include "cli/read/byte_source.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace heapprof::cli {

class JsonPull {
 public:
  explicit JsonPull(ByteSource* source) : source_(source) {}

  bool begin_object();
  // The next key of the object, false at its end. Read or skip its value before the next call.
  bool next_key(std::string* key);
  bool begin_array();
  // Whether another element follows; false at the array's end.
  bool next_element();

  bool read_unsigned(uint64_t* value);
  bool read_signed(int64_t* value);
  bool read_bool(bool* value);
  bool read_string(std::string* value);
  bool skip_value();
  // Whether only white space is left.
  bool expect_end();

  // What comes next, without consuming it: one of { [ " - 0 t f n, or 0 at the end; anything else is not JSON.
  char peek_kind();

  // Records an error for valid JSON that was not expected. Always returns false.
  bool fail(std::string_view reason);
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  bool is_syntax_error() const { return is_syntax_error_; }
  uint64_t offset_bytes() const { return consumed_before_ + static_cast<uint64_t>(at_ - piece_); }

 private:
  bool refill();
  int peek() {
    if (at_ == end_ && !refill()) return -1;
    return static_cast<unsigned char>(*at_);
  }
  int peek_after_space();
  bool syntax_error(std::string_view reason);
  bool open_group(char open, std::string_view expected);
  bool read_short_number(uint64_t* value);
  bool read_digits(uint64_t* value);
  bool read_escape(std::string* value);
  bool read_hex4(uint32_t* code);
  bool skip_number();
  bool expect_word(std::string_view word);

  ByteSource* source_;
  const char* piece_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  uint64_t consumed_before_ = 0;
  int depth_ = 0;
  bool is_first_ = false;  // nothing was read yet of the innermost object or array
  bool is_syntax_error_ = false;
  std::string error_;
  std::string scratch_;
};

}  // namespace heapprof::cli
