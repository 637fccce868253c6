// cli/write/encode/tar.cc: see tar.h.
#include "cli/write/encode/tar.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace heapprof::cli {
namespace {

constexpr size_t kBlock = 512;

// Offsets of a header's fields.
constexpr size_t kMode = 100;
constexpr size_t kOwner = 108;
constexpr size_t kGroup = 116;
constexpr size_t kSize = 124;
constexpr size_t kTime = 136;
constexpr size_t kSum = 148;
constexpr size_t kType = 156;
constexpr size_t kMagic = 257;

}  // namespace

void write_tar_file(std::string_view name, std::string_view bytes, ByteSink* sink) {
  std::array<char, kBlock> header{};
  const auto octal = [&header](size_t at, int digits, uint64_t value) {
    std::snprintf(header.data() + at, static_cast<size_t>(digits) + 1, "%0*llo", digits,
                  static_cast<unsigned long long>(value));
  };
  std::memcpy(header.data(), name.data(), name.size() < kMostTarName ? name.size() : kMostTarName);
  octal(kMode, 7, 0644);
  octal(kOwner, 7, 0);
  octal(kGroup, 7, 0);
  octal(kSize, 11, bytes.size());
  octal(kTime, 11, 0);
  header[kType] = '0';
  std::memcpy(header.data() + kMagic,
              "ustar\0"
              "00",
              8);
  // The checksum is computed over the header with blanks in the checksum's field.
  std::memset(header.data() + kSum, ' ', 8);
  uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  octal(kSum, 6, sum);
  sink->write({header.data(), header.size()});
  sink->write(bytes);
  sink->write(std::string((kBlock - bytes.size() % kBlock) % kBlock, '\0'));
}

void write_tar_end(ByteSink* sink) { sink->write(std::string(2 * kBlock, '\0')); }

}  // namespace heapprof::cli
