// cli/top/top_json.h: writes a sample as JSON, for scripts (man/heapprof-top.1.scd lists the fields).
#pragma once

#include "cli/model/top/top_board.h"
#include "cli/model/top/top_table.h"

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

// One object and a line end. Numbers are integers, in bytes and nanoseconds.
std::string top_json(const TopBoard& board, pid_t pid, const std::string& command, TopSort sort);

}  // namespace heapprof::cli
