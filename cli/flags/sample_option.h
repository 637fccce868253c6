// cli/flags/sample_option.h: `--sample SIZE` of run, attach and resume.
#pragma once

#include "cli/flags/options.h"

#include <cstdint>

namespace heapprof::cli {

void declare_sample_option(Options* options, const char* group, uint64_t* interval_bytes);

}  // namespace heapprof::cli
