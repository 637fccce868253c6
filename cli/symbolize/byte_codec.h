// cli/symbolize/byte_codec.h: encodes numbers and texts as bytes, for another process or another run of this program.
//
// Trust:    the reader checks every length and returns false if the bytes are too short.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace heapprof::cli {

// Longer names and paths are cut: only a hostile file has them, and it may have them for every frame.
inline constexpr size_t kMaxTextBytes = 64 << 10;

class ByteWriter {
 public:
  void number(size_t value) {
    uint32_t small = static_cast<uint32_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&small), sizeof small);
  }
  void text(const std::string& value) {
    size_t size = std::min(value.size(), kMaxTextBytes);
    number(size);
    bytes_.append(value, 0, size);
  }
  void wide_number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(const std::string& bytes) : bytes_(bytes) {}
  bool number(uint32_t* value) {
    if (bytes_.size() - position_ < sizeof *value) return false;
    std::memcpy(value, bytes_.data() + position_, sizeof *value);
    position_ += sizeof *value;
    return true;
  }
  bool wide_number(uint64_t* value) {
    if (bytes_.size() - position_ < sizeof *value) return false;
    std::memcpy(value, bytes_.data() + position_, sizeof *value);
    position_ += sizeof *value;
    return true;
  }
  bool text(std::string* value) {
    uint32_t size = 0;
    if (!number(&size) || size > bytes_.size() - position_) return false;
    value->assign(bytes_, position_, size);
    position_ += size;
    return true;
  }
  // Whether the remaining bytes can hold a list of this length, with at least so many bytes per element.
  bool has_room(uint32_t count, size_t element_bytes) const {
    return count <= (bytes_.size() - position_) / element_bytes;
  }
  // The bytes that were not read yet.
  std::string rest() const { return bytes_.substr(position_); }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  const std::string& bytes_;
  size_t position_ = 0;
};

}  // namespace heapprof::cli
