// cli/write/encode/json_stream.h: RapidJSON's writer over a ByteSink, and strings that are safe in it.
//
// Guarantees
//  - Every string is written as valid UTF-8 without control characters, whatever the input.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/base/text.h"

// Before its first allocation, RapidJSON 1.1 adds to a null pointer. clang's sanitizer would end the program for that.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/writer.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// An output stream as RapidJSON's Writer expects it.
class JsonStream {
 public:
  using Ch = char;
  explicit JsonStream(ByteSink* sink) : sink_(sink), buffer_(kBufferBytes, '\0') {}
  void Put(char c) {
    if (size_ == kBufferBytes) [[unlikely]]
      Flush();
    buffer_[size_++] = c;
  }
  void Flush() {
    sink_->write(std::string_view(buffer_).substr(0, size_));
    size_ = 0;
  }

 private:
  static constexpr size_t kBufferBytes = 64 << 10;
  ByteSink* sink_;
  std::string buffer_;
  size_t size_ = 0;  // used bytes of buffer_
};

class JsonWriter {
 public:
  explicit JsonWriter(ByteSink* sink) : stream_(sink), writer_(stream_) {}

  void key(std::string_view name) { writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size())); }
  void string(std::string_view text) {
    const std::string clean = escape_controls(text);
    writer_.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
  }
  void number(uint64_t value) { writer_.Uint64(value); }
  void signed_number(int64_t value) { writer_.Int64(value); }
  void real(double value) { writer_.Double(value); }  // pre: finite
  void boolean(bool value) { writer_.Bool(value); }
  void null() { writer_.Null(); }
  void begin_object() { writer_.StartObject(); }
  void end_object() { writer_.EndObject(); }
  void begin_array() { writer_.StartArray(); }
  void end_array() { writer_.EndArray(); }

  // Members of an object.
  void text(std::string_view name, std::string_view value) {
    key(name);
    string(value);
  }
  // Writes nothing if there are no values.
  void texts(std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    key(name);
    begin_array();
    for (const std::string& value : values) string(value);
    end_array();
  }
  void count(std::string_view name, uint64_t value) {
    key(name);
    number(value);
  }
  void flag(std::string_view name, bool value) {
    key(name);
    boolean(value);
  }

  // Call it only between two values, where JSON allows white space: people and diffs like lines.
  void new_line() { stream_.Put('\n'); }
  void finish() {
    stream_.Put('\n');
    stream_.Flush();
  }

 private:
  JsonStream stream_;
  rapidjson::Writer<JsonStream> writer_;
};

}  // namespace heapprof::cli
