// cli/model/analysis/alike_stacks.h: makes stacks of a recording that read alike one, before frames are made of them.
//
// Two locations read alike where code is compiled anew from one text (a Python module that exec() makes class by
// class), or where a library is loaded twice; and the agent's own frames, between a program and the CUDA runtime, are
// left out.
//
// Guarantees
//  - Afterwards the nodes that sites and others name are of different stacks where they differ.
//  - Where it answers false, nothing was changed.
// Cost:     a look at each location, and at each node; a look-up for the nodes that may be like another.
#pragma once

#include "cli/model/analysis/group_rows.h"
#include "cli/model/profile/recording.h"

namespace heapprof::cli {

// Changes the nodes, and the stacks of sites and of all others that name a node. Sites of one stack stay apart.
// Returns false if locations read alike in part only (one frame of several), or if numbers of nodes or locations are
// wrong.
bool merge_alike_stacks(const NamedLocations& names, Recording* recording);

}  // namespace heapprof::cli
