// cli/run/top_names.h: finds the places of all sites of a process, for the subscribers that watch it. They are the same
// places that `report` would show.
//
// Cost:     as for a snapshot's profile, without writing the file.
#pragma once

#include "cli/collect/top_reader.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/model/top/top_sample.h"

namespace heapprof::cli {

// ids: the ids of the recording's sites, found before its names were looked up
TopNames name_top_sites(const Recording& recording, const SymbolTable& symbols, const SiteIds& ids,
                        const FoldRules& folds);

}  // namespace heapprof::cli
