// cli/flags/suppression_options.cc: see suppression_options.h.
#include "cli/flags/suppression_options.h"

namespace heapprof::cli {

void declare_suppression_options(Options* options, const char* group, SuppressionOptions* target) {
  options->add_texts({"--suppressions", "FILE", group, "blocks known to stay; may be given again"}, &target->files);
  options->add_flag({"--no-default-suppressions", "", group, "also show what libc and libstdc++ keep"},
                    &target->no_defaults);
}

void declare_fold_options(Options* options, const char* group, const char* all_frames, SuppressionOptions* target) {
  options->add_texts({"--fold", "GLOB", group, "functions whose rows are their callers'"}, &target->folds);
  options->add_flag({"--all-frames", "", group, all_frames}, &target->all_frames);
  options->add_flag({"--libraries", "", kRareGroup, "rows of libraries' lines, too"}, &target->libraries);
  options->add_texts({"--user-code", "GLOB", kRareGroup, "files or modules that are your own code"},
                     &target->user_code);
  options->add_texts({"--library-code", "GLOB", kRareGroup, "files or modules that are a library's"},
                     &target->library_code);
}

}  // namespace heapprof::cli
