// cli/model/analysis/alike_stacks.h: merges stacks of a recording that read alike, before they are turned into frames.
//
// Two locations read alike if code is compiled repeatedly from the same text (a Python module that exec() makes class
// by class), or if a library is loaded twice. The agent's own frames, between a program and the CUDA runtime, are left
// out.
//
// Guarantees
//  - Afterwards, different nodes that sites and others refer to have different stacks.
//  - If it returns false, nothing was changed.
// Cost:     one check of each location and each node; a look-up for the nodes that may be like another.
#pragma once

#include "cli/model/analysis/group_rows.h"
#include "cli/model/profile/recording.h"

namespace heapprof::cli {

// Changes the nodes, and the stacks of sites and of everything else that refers to a node. Sites of one stack are not
// merged. Returns false if locations read alike only in part (one frame of several), or if numbers of nodes or
// locations are invalid.
bool merge_alike_stacks(const NamedLocations& names, Recording* recording);

}  // namespace heapprof::cli
