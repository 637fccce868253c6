// cli/write/encode/pickle_writer.cc: a pickle is a program for a machine with a stack: values are pushed, and APPENDS
// and SETITEMS put all values above the last mark into the list or dict below it.
//
// PyTorch's viewer passes all values of one APPENDS to one JavaScript call, which accepts some ten thousand. So a list
// is filled 1,000 values at a time, as Python's own pickler does.
#include "cli/write/encode/pickle_writer.h"

#include "cli/base/text.h"

namespace heapprof::cli {
namespace {

constexpr uint32_t kMostAtOnce = 1000;
constexpr size_t kBufferBytes = 64 << 10;

constexpr unsigned char kProto = 0x80;
constexpr unsigned char kVersion = 4;
constexpr unsigned char kShortText = 0x8c;
constexpr unsigned char kLong = 0x8a;
constexpr unsigned char kTrue = 0x88;
constexpr unsigned char kFalse = 0x89;
constexpr unsigned char kPair = 0x86;

}  // namespace

PickleWriter::PickleWriter(ByteSink* sink) : sink_(sink) {
  put(kProto);
  put(kVersion);
}

void PickleWriter::put_little_endian(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) put(static_cast<unsigned char>(value >> (8 * i)));
}

void PickleWriter::begin_value(uint32_t most) {
  uint32_t& pending = pending_.back();
  if (pending == most) {
    put(most == kMostAtOnce ? 'e' : 'u');
    pending = 0;
  }
  if (pending++ == 0) put('(');
}

void PickleWriter::begin_dict() {
  put('}');
  pending_.push_back(0);
}

void PickleWriter::key(std::string_view name) {
  begin_value(UINT32_MAX);
  text(name);
}

void PickleWriter::end_dict() {
  if (pending_.back() != 0) put('u');
  pending_.pop_back();
}

void PickleWriter::begin_list() {
  put(']');
  pending_.push_back(0);
}

void PickleWriter::next_element() { begin_value(kMostAtOnce); }

void PickleWriter::end_list() {
  if (pending_.back() != 0) put('e');
  pending_.pop_back();
  if (buffer_.size() < kBufferBytes) return;
  sink_->write(buffer_);
  buffer_.clear();
}

void PickleWriter::text(std::string_view text) {
  const auto [known, is_new] = texts_.try_emplace(std::string(text), next_memo_);
  if (!is_new) return again(known->second);
  const std::string clean = escape_controls(text);
  if (clean.size() < 256) {
    put(kShortText);
    put(static_cast<unsigned char>(clean.size()));
  } else {
    put('X');
    put_little_endian(clean.size(), 4);
  }
  buffer_ += clean;
  remember();
}

void PickleWriter::number(uint64_t value) {
  if (value < 1u << 8) {
    put('K');
    return put_little_endian(value, 1);
  }
  if (value < 1u << 16) {
    put('M');
    return put_little_endian(value, 2);
  }
  if (value < 1u << 31) {
    put('J');
    return put_little_endian(value, 4);
  }
  int bytes = 4;  // with room for the sign
  while (value >> (8 * bytes - 1) != 0) ++bytes;
  put(kLong);
  put(static_cast<unsigned char>(bytes));
  put_little_endian(value, bytes);
}

void PickleWriter::minus_one() {
  put('J');
  put_little_endian(UINT32_MAX, 4);
}

void PickleWriter::boolean(bool value) { put(value ? kTrue : kFalse); }

void PickleWriter::pair(uint64_t a, uint64_t b) {
  number(a);
  number(b);
  put(kPair);
}

uint32_t PickleWriter::remember() {
  const uint32_t memo = next_memo_++;
  put(memo < 256 ? 'q' : 'r');
  put_little_endian(memo, memo < 256 ? 1 : 4);
  return memo;
}

void PickleWriter::again(uint32_t remembered) {
  put(remembered < 256 ? 'h' : 'j');
  put_little_endian(remembered, remembered < 256 ? 1 : 4);
}

void PickleWriter::finish() {
  put('.');
  sink_->write(buffer_);
  buffer_.clear();
}

}  // namespace heapprof::cli
