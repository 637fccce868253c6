// cli/model/analysis/assemble_grouped.h: a recording becomes a profile whose many smallest sites are rows.
//
// Guarantees
//  - The profile is the one that assemble() and then group_small_sites() make, to the byte.
//  - Of the recording nothing is changed but its stacks, of which those that read alike become one.
// Trust:    as assemble().
// Cost:     what grows with all sites and stacks are a few sweeps over arrays of numbers. Names are compared, and nodes
//           looked up, of the sites that stay alone.
#pragma once

#include "cli/model/analysis/group.h"
#include "cli/model/profile/profile.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

namespace heapprof::cli {

Profile assemble_grouped(Recording* recording, const SymbolTable& symbols, const GroupOptions& options);

}  // namespace heapprof::cli
