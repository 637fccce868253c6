// cli/commands/attach.h: heapprof attach.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText attach_text();
int attach_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
