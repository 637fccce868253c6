// cli/commands/suppression_options.h: the flags about known leaks that `run` and `report` share.
#pragma once

#include "cli/commands/options.h"
#include "cli/model/suppressions.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct SuppressionOptions {
  std::vector<std::string> files;
  bool no_defaults = false;
};

void declare_suppression_options(Options* options, const char* group, SuppressionOptions* target);

// The rules of the files in the order of the command line, then the built-in ones.
Result<Suppressions> load_suppressions(const SuppressionOptions& options);

}  // namespace heapprof::cli
