// cli/read/read_suppressions.h: reads the rules of a file (cli/model/analysis/suppressions.h and folding.h).
#pragma once

#include "cli/base/result.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/suppressions.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// Rules for functions: which functions' leaks are known, and which functions are attributed to their callers.
struct ReportRules {
  Suppressions suppressions;
  FoldRules folds;
};

// Adds the file's rules to *rules. A file that is missing, larger than 1 MiB, or has a mistake is a problem, which
// names the line.
Result<Done> read_suppressions(const std::string& path, ReportRules* rules);

// The rules that a command uses. Only named files are read: a report depends on its command line and the profile, never
// on the current folder.
struct SuppressionOptions {
  std::vector<std::string> files;
  bool no_defaults = false;
  std::vector<std::string> folds;         // globs of functions
  bool all_frames = false;                // fold nothing
  bool libraries = false;                 // library frames can be allocation sites, too
  std::vector<std::string> user_code;     // globs of source files and modules
  std::vector<std::string> library_code;  // likewise; --user-code comes first
};

// The rules of the files in the order of the command line, then the built-in ones.
Result<ReportRules> load_rules(const SuppressionOptions& options);

}  // namespace heapprof::cli
