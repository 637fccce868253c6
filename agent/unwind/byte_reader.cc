// agent/unwind/byte_reader.cc: the encodings of numbers and pointers in unwind tables.
//
// A number that is too long is refused, not only one that reaches the end of the table: tables are megabytes long.
#include "agent/unwind/byte_reader.h"

namespace heapprof::agent {

// Assemblers pad numbers with a few bytes. A malformed number could go on for megabytes, and every look-up would read
// them again.
constexpr unsigned kMostShift = 7 * 20;

uint64_t ByteReader::read_uleb128() {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = read<uint8_t>();
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
    if (shift > kMostShift) return fail(), 0;
  }
}

int64_t ByteReader::read_sleb128() {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;
  do {
    byte = read<uint8_t>();
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if (shift > kMostShift) return fail(), 0;
  } while ((byte & 0x80) != 0);
  if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
  return static_cast<int64_t>(value);
}

uint64_t ByteReader::read_pointer_bits(uint8_t encoding) {
  switch (encoding & kPointerFormatMask) {
    case kPointerAbsolute:
    case kPointerUdata8:
    case kPointerSdata8: return read<uint64_t>();
    case kPointerUleb128: return read_uleb128();
    case kPointerUdata2: return read<uint16_t>();
    case kPointerUdata4: return read<uint32_t>();
    case kPointerSleb128: return static_cast<uint64_t>(read_sleb128());
    case kPointerSdata2: return static_cast<uint64_t>(int64_t{read<int16_t>()});
    case kPointerSdata4: return static_cast<uint64_t>(int64_t{read<int32_t>()});
    default: fail(); return 0;
  }
}

uint64_t ByteReader::read_pointer(uint8_t encoding, uint64_t data_base_avma) {
  if (encoding == kPointerOmitted) return 0;
  const uint64_t self_avma = reinterpret_cast<uint64_t>(at_);
  const uint64_t bits = read_pointer_bits(encoding);
  if ((encoding & kPointerIndirect) != 0) fail();
  switch (encoding & kPointerBaseMask) {
    case 0: return bits;
    case kPointerRelativeToItself: return self_avma + bits;
    case kPointerRelativeToData: return data_base_avma + bits;
    default: fail(); return 0;
  }
}

void ByteReader::skip_pointer(uint8_t encoding) {
  if (encoding == kPointerOmitted) return;
  if ((encoding & kPointerBaseMask) == kPointerAligned) skip(-reinterpret_cast<uint64_t>(at_) & 7);
  read_pointer_bits(encoding);
}

}  // namespace heapprof::agent
