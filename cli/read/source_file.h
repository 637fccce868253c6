// cli/read/source_file.h: a program's source, where it can be found here, and what a reader has to know before its
// lines are believed.
//
// Guarantees
//  - A remark says what was compared: modification times with the run's start and with the program's file, line numbers
//    with the text. Whether the text is that which was compiled is not known.
// Trust:  the path comes from a profile, and so from a stranger: only a regular file is read, of at most
//         kMostSourceBytes; opening it never waits.
#pragma once

#include "cli/model/analysis/source_lines.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

inline constexpr size_t kMostSourceBytes = 16 << 20;

struct SourceFile {
  std::string text;     // empty: it cannot be read, which a remark says
  std::string remarks;  // a line each
};

// The file where it was compiled, or else the one below the current folder that the longest end of its path names:
// sources that a container or another machine compiled lie elsewhere here. pre: source has lines
SourceFile read_source_file(const Profile& profile, const SourceLines& source);

}  // namespace heapprof::cli
