// cli/top/top_json.h: a sample for scripts (man/heapprof-top.1.scd lists its fields).
#pragma once

#include "cli/model/top/top_board.h"
#include "cli/model/top/top_table.h"

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

// Integers in bytes and nanoseconds; one object and a line end.
std::string top_json(const TopBoard& board, pid_t pid, const std::string& command, TopSort sort);

}  // namespace heapprof::cli
