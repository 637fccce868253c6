// cli/write/export/memory_viz.h: a snapshot that PyTorch's viewer opens (https://pytorch.org/memory_viz), and
// torch.cuda._memory_viz: a pickle of the segments at the end, and of the newest events of each device.
//
// Without --device all devices of the trace are in it. cuda:N is device N; the others, in the trace's order, have the
// numbers behind the largest of these: pinned, managed, imported, registered, cuda:?. The key "heapprof" of the pickle
// has the name of each number, which viewers leave alone.
//
// Guarantees
//  - What the driver gave out and a tensor has lain in is a segment, whose blocks and inactive gaps sum to its size;
//    any other memory of the driver is a segment of one block. Events lead back from it, see trace_replay.h.
//  - A block that begins has the stack that allocated it; its end has none. Both have the way to the innermost scope of
//    the thread ("train > step") as `user_metadata`.
//  - A refusal says what the device had free: readers take `device_free` for granted. -1: not known.
//  - Only what pickle_writer.h lists; numbers stay below 2^53; the same profile gives the same bytes.
// Not provided: streams (all are 0), requested sizes (they are the blocks' own); the heap, mapped pages and Python's
// objects, which have no trace.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

// pre: the profile has a trace
void write_memory_viz(const Profile& profile, const ExportView& view, ByteSink* sink);

}  // namespace heapprof::cli
