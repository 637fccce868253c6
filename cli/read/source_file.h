// cli/read/source_file.h: a program's source, where it can be found here.
//
// Trust:  the path comes from a profile, and so from a stranger: only a regular file is read, of at most
//         kMostSourceBytes; opening it never waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heapprof::cli {

inline constexpr size_t kMostSourceBytes = 64 << 20;

struct SourceFile {
  std::string text;
  std::string path;  // that was read
  int64_t modified_unix_ns = 0;
  std::string obstacle;  // why it cannot be read; empty: it was
};

// The file of that path, or else the one below the current folder that the longest end of the path names: sources that
// a container or another machine compiled lie elsewhere here.
SourceFile read_source_file(const std::string& path);

}  // namespace heapprof::cli
