// cli/model/analysis/assemble_grouped.h: turns a recording into a profile whose many smallest sites are summed into
// rows.
//
// Guarantees
//  - The profile is the one that assemble() and then group_small_sites() make, to the byte.
//  - In the recording only the stacks change: those that read alike are merged.
// Trust:    as assemble().
// Cost:     a few sweeps over arrays of numbers for all sites and stacks. Names are compared and nodes looked up only
//           for the sites that keep a row of their own.
#pragma once

#include "cli/model/analysis/group.h"
#include "cli/model/profile/profile.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

namespace heapprof::cli {

Profile assemble_grouped(Recording* recording, const SymbolTable& symbols, const GroupOptions& options);

}  // namespace heapprof::cli
