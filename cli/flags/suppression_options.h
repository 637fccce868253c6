// cli/flags/suppression_options.h: the flags about known leaks, and about functions whose memory is attributed to their
// callers. The commands that show allocation sites share these flags.
#pragma once

#include "cli/flags/options.h"
#include "cli/read/read_suppressions.h"

namespace heapprof::cli {

void declare_suppression_options(Options* options, const char* group, SuppressionOptions* target);
// `all_frames`: what --all-frames does in that command, for its help.
void declare_fold_options(Options* options, const char* group, const char* all_frames, SuppressionOptions* target);

}  // namespace heapprof::cli
