// cli/run/process_tree_text.h: shows the processes of a run in a few lines, the largest first.
//
// Guarantees
//  - No line is wider than `columns`, unless its numbers alone are. At most kMostRows processes are shown, including
//    the program that was started; the others are counted.
//  - The text is empty if there was only one process.
#pragma once

#include "cli/run/process_tree.h"

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr size_t kMostRows = 8;
inline constexpr size_t kFewestRows = 4;  // if the screen is full

// "cuda:0 1.20 GiB, cuda:1 1.10 GiB + 6"
std::string devices_text(const std::vector<DevicePeak>& devices);

std::string tree_title(const ProcessTree& tree, size_t columns);
// most_rows: how many processes are shown, including the program that was started.
std::string tree_text(const ProcessTree& tree, size_t columns, size_t most_rows = kMostRows);

// "worker (4711), worker (4712) and 3 more". The processes need not have an agent.
std::string process_names_text(const std::vector<pid_t>& pids);

}  // namespace heapprof::cli
