// cli/commands/diff.h: `heapprof diff BASE… CURRENT`: what changed between two profiles, or two folders of them.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText diff_text();

// The exit code: 0; 1 with --exit-code if something grew; 2 for wrong usage; 3 for a profile that cannot be read or is
// incomplete.
int diff_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
