// cli/read/source_file.h: a program's source, if it is on this machine, and remarks that a reader needs before trusting
// its lines.
//
// Guarantees
//  - A remark states what was compared: modification times with the run's start and with the program's file, line
//    numbers with the text. Whether this text was compiled is unknown.
// Trust:  the path comes from a profile, so it is untrusted: only a regular file is read, of at most kMostSourceBytes;
//         opening it never waits.
#pragma once

#include "cli/model/analysis/source_lines.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

inline constexpr size_t kMostSourceBytes = 16 << 20;

struct SourceFile {
  std::string text;     // empty if the file cannot be read; a remark then says so
  std::string remarks;  // a line each
};

// The file at its compiled path, or else the one below the current folder that matches the longest end of that path:
// sources from a container or another machine lie elsewhere here. pre: source has lines
SourceFile read_source_file(const Profile& profile, const SourceLines& source);

}  // namespace heapprof::cli
