// cli/base/file_table.h: reads a table from a file, up to a limit, completely or not at all.
//
// Trust:    the offset and the size may be anything: a table that does not lie in the file is refused.
#pragma once

#include "cli/base/fd.h"

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kMostTableBytes = 128 << 20;

// Reads whole entries only. nullopt: the table is larger than kMostTableBytes, does not lie in the file, or cannot be
// read.
template <typename T>
std::optional<std::vector<T>> read_table(int fd, uint64_t file_off, uint64_t size_bytes) {
  struct stat facts {};
  if (size_bytes > kMostTableBytes || ::fstat(fd, &facts) != 0) return std::nullopt;
  const auto end = static_cast<uint64_t>(facts.st_size);
  if (file_off > end || size_bytes > end - file_off) return std::nullopt;
  std::vector<T> table(size_bytes / sizeof(T));
  if (!read_at(fd, table.data(), table.size() * sizeof(T), file_off)) return std::nullopt;
  return table;
}

}  // namespace heapprof::cli
