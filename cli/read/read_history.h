// cli/read/read_history.h: reads a history file, line by line.
//
// Guarantees
//  - A line that is no valid entry (broken, cut off, of a newer version) gives a warning with its number; the other
//    lines are used.
//  - Numbers are integers that fit; names come out without control characters.
// Trust:    the file is hostile: a line is at most 1 MiB, a file 1 GiB.
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/history.h"
#include "cli/read/byte_source.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct History {
  std::vector<HistoryEntry> entries;  // in the order of the file
  std::vector<Problem> warnings;      // about the first unusable lines
  uint64_t lines_skipped = 0;
};

Result<History> read_history(const std::string& path);

// From any source; `name` is its name in warnings.
Result<History> read_history(ByteSource* source, const std::string& name);

}  // namespace heapprof::cli
