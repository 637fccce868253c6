// cli/write/history/append_history.h: adds entries to a file of history.
//
// Guarantees
//  - All entries are in the file, each on a line of its own, or none: what a full disk cut off is taken back.
//  - Writers at the same time do not mix their lines: the file is locked (flock), and written to at its end in one
//    piece.
//  - A last line that somebody left without its end stays as it is; the new ones begin below it.
// Not provided: locks across machines where the file system has none (some NFS).
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/history.h"

#include <span>
#include <string>

namespace heapprof::cli {

// One line with its end: JSON with integers only.
std::string history_line(const HistoryEntry& entry);

// Makes the file where there is none.
Result<Done> append_history(const std::string& path, std::span<const HistoryEntry> entries);

}  // namespace heapprof::cli
