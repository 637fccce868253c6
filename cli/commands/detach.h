// cli/commands/detach.h: heapprof detach.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText detach_text();
int detach_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
