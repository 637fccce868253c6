// cli/commands/suppression_options.cc: no file is read that is not named: what a report says depends on its command line and
// the profile, never on the folder that it is called in.
#include "cli/commands/suppression_options.h"

#include "cli/read/read_suppressions.h"

namespace heapprof::cli {

void declare_suppression_options(Options* options, const char* group, SuppressionOptions* target) {
  options->add_texts({"--suppressions", "FILE", group, "known leaks and why; may be given again"}, &target->files);
  options->add_flag({"--no-default-suppressions", "", group, "also show what libc and libstdc++ keep"},
                    &target->no_defaults);
}

Result<Suppressions> load_suppressions(const SuppressionOptions& options) {
  Suppressions rules;
  for (const std::string& file : options.files) {
    if (const Result<Done> read = read_suppressions(file, &rules); !read) return read.problem();
  }
  if (!options.no_defaults) add_default_suppressions(&rules);
  return rules;
}

}  // namespace heapprof::cli
