// cli/flags/suppression_options.cc: see suppression_options.h.
#include "cli/flags/suppression_options.h"

namespace heapprof::cli {

void declare_suppression_options(Options* options, const char* group, SuppressionOptions* target) {
  options->add_texts({"--suppressions", "FILE", group, "blocks known to stay; may be given again"}, &target->files);
  options->add_flag({"--no-default-suppressions", "", group, "also show what libc and libstdc++ keep"},
                    &target->no_defaults);
}

}  // namespace heapprof::cli
