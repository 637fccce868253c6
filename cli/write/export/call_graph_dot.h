// cli/write/export/call_graph_dot.h: which function called which, by memory, as a graph for Graphviz.
//
// One metric of one device; without a choice the peak of the host. A node is a function of the program's own, whatever
// its lines: those of the standard library, the allocator and the runtime, and wrappers around the allocator, are
// passed over as in reports (cli/model/analysis/places.h). A node says what its function asked for itself, and what was
// asked for in it and in all that it called.
//
// Pruned with the defaults of pprof's graphs: functions with less than 0.5 % of all are left out, then all but the 80
// with the most, then edges with less than 0.1 %. Where functions between two that are shown were left out, the edge is
// dashed. The graph's label says how many there were, and so do the notes.
//
// Guarantees
//  - The label, and the attribute "total" of the graph, have the device's number; "flat" and "cumulative" of a node
//    and "amount" of an edge are exact integers. Graphviz passes over these attributes.
//  - A function that calls itself, and one that is on a stack twice, counts once; so does an edge.
//  - Names can end no string: quotes, backslashes and control characters are escaped.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

void write_call_graph_dot(const Profile& profile, const ExportView& view, ByteSink* sink);
std::vector<std::string> find_call_graph_notes(const Profile& profile, const ExportView& view);

}  // namespace heapprof::cli
