// agent/unwind/byte_reader.h: reads call frame information from memory, within bounds.
//
// Guarantees
//  - Reads only inside [at, end). A read past the end returns 0, and has_failed() is true from then on.
// Trust:    the bytes are the target's own tables. A malformed table makes has_failed() true; it never causes a fault
//           (tests/fuzz/unwind_fuzz.cc).
#pragma once

#include <string.h>

#include <cstdint>

namespace heapprof::agent {

// Pointer encodings of .eh_frame and .eh_frame_hdr (Linux Standard Base 5.0, 10.5.1).
enum PointerEncoding : uint8_t {
  kPointerAbsolute = 0x00,
  kPointerUleb128 = 0x01,
  kPointerUdata2 = 0x02,
  kPointerUdata4 = 0x03,
  kPointerUdata8 = 0x04,
  kPointerSleb128 = 0x09,
  kPointerSdata2 = 0x0a,
  kPointerSdata4 = 0x0b,
  kPointerSdata8 = 0x0c,
  kPointerFormatMask = 0x0f,
  kPointerRelativeToItself = 0x10,
  kPointerRelativeToData = 0x30,
  kPointerAligned = 0x50,
  kPointerBaseMask = 0x70,
  kPointerIndirect = 0x80,
  kPointerOmitted = 0xff,
};

class ByteReader {
 public:
  ByteReader(const uint8_t* at, const uint8_t* end) : at_(at), end_(at <= end ? end : at) {}

  const uint8_t* at() const { return at_; }
  uint64_t left_bytes() const { return static_cast<uint64_t>(end_ - at_); }
  bool has_failed() const { return failed_; }

  template <typename T>
  T read() {
    T value{};
    if (left_bytes() < sizeof value) {
      fail();
      return value;
    }
    memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  void skip(uint64_t count_bytes) {
    if (count_bytes > left_bytes()) return fail();
    at_ += count_bytes;
  }

  uint64_t read_uleb128();
  int64_t read_sleb128();
  // data_base_avma: the base address of kPointerRelativeToData. An indirect pointer fails: nothing that the agent needs
  // uses one.
  uint64_t read_pointer(uint8_t encoding, uint64_t data_base_avma);
  // Skips a pointer whose value does not matter.
  void skip_pointer(uint8_t encoding);

 private:
  void fail() {
    failed_ = true;
    at_ = end_;
  }
  uint64_t read_pointer_bits(uint8_t encoding);

  const uint8_t* at_;
  const uint8_t* end_;
  bool failed_ = false;
};

}  // namespace heapprof::agent
