// cli/flags/sample_option.cc: see sample_option.h.
#include "cli/flags/sample_option.h"

#include "cli/model/analysis/sampling.h"

namespace heapprof::cli {

void declare_sample_option(Options* options, const char* group, uint64_t* interval_bytes) {
  options->add_size({"--sample", "SIZE", group, "record one block for each SIZE bytes, at random"}, kLeastIntervalBytes,
                    kMostIntervalBytes, interval_bytes);
}

}  // namespace heapprof::cli
