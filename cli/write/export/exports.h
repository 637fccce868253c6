// cli/write/export/exports.h: for each export format, its function and what it writes. The formats of Go's heap
// profiles are in pprof.h.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

// ---- folded.cc ----

// Folded stacks, one line for each: "main;load_scene;build_index 1301282816", for
// flamegraph.pl and similar tools.
//
// One metric of one device; by default the peak of the host.
//
// Guarantees
//  - The outermost frame comes first, inlined frames in their order, no ";" comes directly before the number.
//  - Each line has a different stack, and a number above 0; the numbers add up to the device's.
//  - Functions have their short names, or with ExportView::full_names, their full names.
//  - Names contain no ";" (it is written as "\x3b"), no line break, and are valid UTF-8.
void write_folded(const Profile& profile, const ExportView& view, ByteSink* sink);

// ---- speedscope.cc ----

// A file that https://www.speedscope.app opens: a sampled profile for each device and
// metric.
//
// By default all devices and all metrics that the profile has, the host's peak first; the viewer can switch between
// them.
//
// Guarantees
//  - Bytes are declared as bytes, blocks as plain numbers; the weights of each profile add up to the device's number.
//  - Stacks run from the outermost frame inwards, and are sorted by the names of their frames. Frames that differ only
//    in the line are one frame.
//  - Valid JSON in valid UTF-8; numbers stay below 2^53.
void write_speedscope(const Profile& profile, const ExportView& view, ByteSink* sink);

// ---- sites.cc ----

// The profile as a table for databases: a line of JSON (NDJSON) for each site, device and
// metric, which DuckDB, ClickHouse, Spark and pandas read directly.
//
// By default all devices and all metrics that the profile has. man/heapprof-format.5 describes the columns.
//
// Guarantees
//  - Every line has every column, in one order and of one type; an unknown value is null. So the first lines show a
//    reader the whole schema.
//  - A site has a line for a metric unless its numbers are 0; the values of a device and a metric add up to the
//    device's number.
//  - Numbers are exact, as integers: none is rounded to a double.
//  - Valid JSON in valid UTF-8; no line break inside a line.
// Not provided: threads. What each thread allocated is known in total, not by site.
void write_sites(const Profile& profile, const ExportView& view, ByteSink* sink);

// ---- dhat_export.cc ----

// One device as a separate DHAT file, for Valgrind's dh_view.html.
//
// The top level of a profile holds the host's sites, because viewers do not know devices. In the exported file, it
// holds the sites of the chosen device.
//
// Guarantees
//  - Those of write_dhat(). The sums and the moment of the peak are the device's.
//  - The file contains nothing about other devices; heapprof reads it as a profile of that one device.
// If no device is chosen, the file has the whole profile, with the host's sites at the top level, as `heapprof run`
// would write it today.
void write_dhat_export(const Profile& profile, const ExportView& view, ByteSink* sink);

// ---- call_graph_dot.cc ----

// Which function called which, by memory, as a graph for Graphviz.
//
// One metric of one device; by default the peak of the host. A node is one of the program's own functions, with
// all its lines. Functions of the standard library, the allocator and the runtime, and wrappers around the allocator,
// are skipped as in reports (cli/model/analysis/places.h). A node shows what its function asked for itself, and what it
// and all its callees asked for.
//
// The graph is pruned with the defaults of pprof's graphs: functions with less than 0.5 % of the total are left out,
// then all but the 80 largest, then edges with less than 0.1 %. If functions between two shown ones were left out, the
// edge is dashed. The graph's label and the notes say how many were left out.
//
// Guarantees
//  - The label, and the attribute "total" of the graph, have the device's number; "flat" and "cumulative" of a node and
//    "amount" of an edge are exact integers. Graphviz ignores these attributes.
//  - A function that is on a stack several times counts once; so does an edge.
//  - No name can end a DOT string: quotes, backslashes and control characters are escaped.
void write_call_graph_dot(const Profile& profile, const ExportView& view, ByteSink* sink);
std::vector<std::string> find_call_graph_notes(const Profile& profile, const ExportView& view);

// ---- memory_viz.cc ----

// A snapshot that PyTorch's viewer opens (https://pytorch.org/memory_viz), and
// torch.cuda._memory_viz: a pickle of the segments at the end, and of the newest events of each device.
//
// Without --device all devices of the trace are in it. cuda:N is device N. The other devices (pinned, managed,
// imported, registered, cuda:?) get the numbers after the largest N, in the trace's order. The key "heapprof" of the
// pickle has the name of each number; viewers ignore it.
//
// Guarantees
//  - Memory from the driver that has held a tensor is a segment, whose blocks and inactive gaps sum to its size; any
//    other memory from the driver is a segment of one block. A viewer can undo the events one by one from these
//    segments (trace_replay.h).
//  - The event that begins a block has the stack that allocated it; the event that ends it has no stack. Both have the
//    path of the thread's innermost scope ("train > step") as `user_metadata`.
//  - An event for a refused allocation has `device_free`, the device's free memory, which readers require; -1: not
//    known.
//  - Only opcodes that pickle_writer.h lists; numbers stay below 2^53; the same profile gives the same bytes.
// Not provided: streams (all are 0), requested sizes (the blocks' sizes are written instead); the heap, mapped pages
// and Python's objects, which have no trace.

// pre: the profile has a trace
void write_memory_viz(const Profile& profile, const ExportView& view, ByteSink* sink);

// ---- perfetto.cc ----

// A trace in Perfetto's own protobuf, for https://ui.perfetto.dev and trace_processor:
// heap profiles as flame graphs, live memory as counters, scopes as slices, on one timeline.
//
// By default all devices.
//
//   heap profiles   several heaps for each device, named after it (cuda_0), because a heap has only one kind of number:
//                     "libc.malloc"        the host at the end: allocated is the total, and what is not released is
//                                          leaked. The viewer opens this heap because of its name
//                     "host at the peak"   at the moment of the peak: what was live is allocated, nothing is released
//                     "host at snapshots"  a dump for each snapshot: what sites gained and lost from snapshot to
//                                          snapshot, added up
//   counters        "host live", in bytes: each bucket of the timeline has two values, its smallest at its begin and
//                   its largest in its middle. In the peak's bucket, the second is the peak at its exact moment. The
//                   last value is what was live at the end. So the largest value is the peak, at the right moment;
//                   other values are right within a bucket
//   slices          the kept runs of scopes, on the track of the thread that began them. A run that is in no thread's
//                   stack, was left and entered again, or would cross another run is on an extra track below
//   instants        marks, on their thread; snapshots, on a track of their own
//
// Times are wall clock times (REALTIME): start_unix_ns plus the time since the start. Only wall clock times align the
// traces of one archive. No two dumps of a trace have the same time: if necessary, a dump is moved by nanoseconds.
//
// Guarantees
//  - Every referenced id is interned before, in the same sequence; each heap is a separate sequence, because within a
//    sequence readers join samples by process and stack.
//  - The sizes of a heap add up to the device's number, as int64: larger numbers are cut.
//  - Frames that differ in any way are never merged.
//  - Strings are valid UTF-8; names of heaps contain no character that could end a string in a query.
// Not provided: threads of allocations, which profiles do not have; scopes whose runs were not kept.
//
// Several profiles become a tar archive: a trace for each, and a manifest that lists the traces
// (docs/reference/perfetto-manifest of Perfetto's documentation). If an earlier profile has the same process id (from
// another machine, or from before an exec), the manifest assigns the later one to another machine, because one machine
// has only one process per id. All profiles that are the second with their id share one machine, all that are the third
// share another, and so on.
void write_perfetto(const Profile& profile, const ExportView& view, ByteSink* sink);
void write_perfetto_archive(std::span<const ExportInput> profiles, const ExportView& view, ByteSink* sink);
std::vector<std::string> find_perfetto_notes(const Profile& profile, const ExportView& view);

}  // namespace heapprof::cli
