// cli/write/export/pprof.h: a gzip'd protobuf in the format of https://github.com/google/pprof, for `go tool pprof`,
// Pyroscope, Parca.
//
// One device; without a choice the host. All metrics as sample types; --metric (without it the peak) is what viewers
// show first.
//
//   alloc_objects alloc_space      allocations, total
//   inuse_objects inuse_space      live at the end: leaked
//   peak_objects  peak_space       live at the device's peak
//   temporary_objects              freed before the next allocation of their thread
//
// Guarantees
//  - Ids are found, strings are valid UTF-8, numbers fit into an int64: what a reader checks, holds.
//  - Inlined frames are lines of one location, the innermost first.
//  - Everything is named here, with has_functions and its like set: viewers look for nothing on the machine that they
//    run on.
//  - Functions that only lead from the program to the allocator are left out by viewers (pprof_drop.h), and are there.
//  - Each sample has its device as a label. What each thread allocated stands in the comments.
//  - Mappings do not overlap: each module has a range of its own, at whose start address 0 of its file lies.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

void write_pprof(const Profile& profile, const ExportView& view, ByteSink* sink);

}  // namespace heapprof::cli
