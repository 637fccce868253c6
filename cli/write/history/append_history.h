// cli/write/history/append_history.h: adds entries to a history file.
//
// Guarantees
//  - Either all entries are added, each on its own line, or none: if a full disk cut the write off, the written part is
//    removed.
//  - Concurrent writers do not mix their lines: the file is locked (flock), and appended to in one piece.
//  - A last line without a line end is kept; the new ones begin below it.
// Not provided: locks across machines, if the file system has none (some NFS).
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/history.h"

#include <span>
#include <string>

namespace heapprof::cli {

// One line with its end: JSON with integers only.
std::string history_line(const HistoryEntry& entry);

// Creates the file if it is missing.
Result<Done> append_history(const std::string& path, std::span<const HistoryEntry> entries);

}  // namespace heapprof::cli
