// cli/write/export/perfetto.h: a trace in Perfetto's own protobuf, for https://ui.perfetto.dev and trace_processor:
// heap profiles as flame graphs, live memory as counters, scopes as slices, on one timeline.
//
// Without a choice all devices.
//
//   heap profiles   of each device several heaps, named for it (cuda_0), as a heap has one kind of number here:
//                     "libc.malloc"        the host at the end: allocated is the total, what is not released is leaked;
//                                          by this name the viewer opens it
//                     "host at the peak"   at the moment of the peak: what was live then, and nothing is released
//                     "host at snapshots"  one after the other, what sites gained and lost since the one before
//   counters        "host live", in bytes: each bucket of the timeline is its smallest value at its begin and its
//                   largest in its middle; the peak is there at its moment, in place of the largest, and the last
//                   value is what was live at the end. So the largest value is the peak, and when it was, is right;
//                   between, values are right within a bucket
//   slices          the runs through scopes that were kept, on the track of the thread that began them. What is in no
//                   thread's stack, was left and entered again, or would cross another one is on tracks below it
//   instants        marks, on their thread; snapshots, on a track of their own
//
// Times are the wall clock's (REALTIME): start_unix_ns and what passed since. Traces of one archive lie beside each
// other by that alone. No two dumps of a trace have one time: they are a nanosecond apart, if need be.
//
// Guarantees
//  - Every id that is named is interned before, in the same sequence; each heap is a sequence of its own, since what is
//    read is held together by process and stack within one.
//  - The sizes of a heap add up to the device's number, as int64: numbers that would go beyond are cut.
//  - Two frames that differ in anything are two frames there.
//  - Strings are valid UTF-8; names of heaps hold nothing that a query would take for the end of a string.
// Not provided: threads of allocations, which profiles do not have; scopes whose runs were not kept.
//
// Several profiles are a tar archive, a trace each, with a manifest that says so (docs/reference/perfetto-manifest of
// Perfetto's documentation). A profile whose process id one before it has, of another machine or of before an exec, is
// put on another machine there, as one machine has one process of an id; the second ones of all share one.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

void write_perfetto(const Profile& profile, const ExportView& view, ByteSink* sink);
void write_perfetto_archive(std::span<const ExportInput> profiles, const ExportView& view, ByteSink* sink);
std::vector<std::string> find_perfetto_notes(const Profile& profile, const ExportView& view);

}  // namespace heapprof::cli
