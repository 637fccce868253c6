// cli/model/analysis/alike_stacks.h: merges stacks of a recording that read alike, before they are turned into frames.
//
// Two locations read alike if code is compiled repeatedly from the same text (a Python module that exec() makes class
// by class), or if a library is loaded twice. The agent's own frames, between a program and the CUDA runtime, are left
// out.
//
// Guarantees
//  - Afterwards, no two nodes that the recording refers to have the same stack.
//  - If it returns false, nothing was changed.
// Cost:     one check of each location and each node; a table look-up only for nodes that may equal another.
#pragma once

#include "cli/model/analysis/group_rows.h"
#include "cli/model/profile/recording.h"

namespace heapprof::cli {

// Changes the nodes, and all references to nodes: those of sites and of other data. Sites that then have the same stack
// are not merged. Returns false if two locations share some of their frames but not all, or if a node's or location's
// index is invalid.
bool merge_alike_stacks(const NamedLocations& names, Recording* recording);

}  // namespace heapprof::cli
