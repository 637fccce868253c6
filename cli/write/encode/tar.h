// cli/write/encode/tar.h: a tar archive (POSIX ustar) of a few files, for tools that take several files as one.
//
// Guarantees
//  - Equal files give equal bytes: the archive has no times and no owners, and every mode is 0644.
// Not provided: names of more than 100 bytes, and files of 8 GiB and more; the caller must not pass them.
#pragma once

#include "cli/base/byte_sink.h"

#include <string_view>

namespace heapprof::cli {

inline constexpr size_t kMostTarName = 100;

void write_tar_file(std::string_view name, std::string_view bytes, ByteSink* sink);
void write_tar_end(ByteSink* sink);

}  // namespace heapprof::cli
