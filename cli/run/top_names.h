// cli/run/top_names.h: the places of all sites of a process, for the subscribers that watch it: the same that `report`
// would show.
//
// Cost:     as for a snapshot's profile, without the file.
#pragma once

#include "cli/collect/top_reader.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/model/top/top_sample.h"

namespace heapprof::cli {

// ids: of the recording, from before it had names
TopNames name_top_sites(const Recording& recording, const SymbolTable& symbols, const SiteIds& ids,
                        const FoldRules& folds);

}  // namespace heapprof::cli
