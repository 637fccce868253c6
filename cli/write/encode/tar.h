// cli/write/encode/tar.h: a tar archive (POSIX ustar) of a few files, for tools that take several files as one.
//
// Guarantees
//  - Equal files give equal bytes: it has no time and no owner; mode 0644.
// Not provided: names of more than 100 bytes (pre), files of 8 GiB and more (pre).
#pragma once

#include "cli/base/byte_sink.h"

#include <string_view>

namespace heapprof::cli {

inline constexpr size_t kMostTarName = 100;

void write_tar_file(std::string_view name, std::string_view bytes, ByteSink* sink);
void write_tar_end(ByteSink* sink);

}  // namespace heapprof::cli
