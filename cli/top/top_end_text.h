// cli/top/top_end_text.h: makes the text that is shown when a watched process has ended.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/top/top_sample.h"

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

std::string top_end_text(pid_t pid, const TopEnd& end, const Terminal& look);

}  // namespace heapprof::cli
