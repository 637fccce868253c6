// cli/write/encode/gzip_sink.cc: zlib's stream with a gzip header around it (window bits + 16).
#include "cli/write/encode/gzip_sink.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace heapprof::cli {

struct GzipSink::Stream {
  z_stream zlib{};
};

GzipSink::GzipSink(ByteSink* to) : stream_(std::make_unique<Stream>()), to_(to) {
  constexpr int kWindowBits = 15;
  constexpr int kGzipHeader = 16;
  constexpr int kMemoryLevel = 8;
  if (deflateInit2(&stream_->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits + kGzipHeader, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();  // the only possible error with constant arguments
  }
}

GzipSink::~GzipSink() { deflateEnd(&stream_->zlib); }

void GzipSink::write(std::string_view bytes) {
  constexpr size_t kMostAtOnce = 1 << 30;  // zlib counts in 32 bits
  while (!bytes.empty()) {
    pack(bytes.substr(0, kMostAtOnce), false);
    bytes.remove_prefix(std::min(bytes.size(), kMostAtOnce));
  }
}

void GzipSink::finish() { pack({}, true); }

void GzipSink::pack(std::string_view bytes, bool is_end) {
  z_stream& zlib = stream_->zlib;
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
  zlib.avail_in = static_cast<uInt>(bytes.size());
  std::array<char, 32 << 10> packed;
  do {
    zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
    zlib.avail_out = packed.size();
    deflate(&zlib, is_end ? Z_FINISH : Z_NO_FLUSH);
    to_->write({packed.data(), packed.size() - zlib.avail_out});
  } while (zlib.avail_out == 0);
}

}  // namespace heapprof::cli
