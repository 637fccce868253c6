// cli/write/export/pprof.h: a gzip'd protobuf in the format of https://github.com/google/pprof, for `go tool pprof`,
// Pyroscope, Parca.
//
// One device, by default the host. All metrics are sample types; viewers show --metric (by default the peak) first.
//
//   alloc_objects alloc_space      allocations, total
//   inuse_objects inuse_space      live at the end: leaked
//   peak_objects  peak_space       live at the device's peak
//   temporary_objects              freed before the next allocation of their thread
//
// Guarantees
//  - The file passes all checks of readers: ids exist, strings are valid UTF-8, numbers fit into an int64.
//  - Inlined frames are lines of one location, the innermost first.
//  - The file has all names, and sets has_functions and similar flags, so viewers look up nothing on their machine.
//  - Viewers leave out the frames between the program's own functions and the allocator (pprof_drop.h); the file has
//    them.
//  - Each sample has its device as a label. What each thread allocated is in the comments.
//  - Mappings do not overlap: each module has its own range, which starts at address 0 of its file.
#pragma once

#include "cli/write/export/formats.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

void write_pprof(const Profile& profile, const ExportView& view, ByteSink* sink);

// One device of one process.
struct GoHeapPart {
  const Profile* profile = nullptr;
  const Device* device = nullptr;
  std::vector<std::pair<std::string, std::string>> labels;  // keys and values for each sample; the device is added
  bool is_subtracted = false;                               // true for the state at an interval's beginning
};

struct GoHeapView {
  bool shows_allocations = false;  // viewers show alloc_space first, else inuse_space
  int64_t time_unix_ns = 0;        // when the profile or the interval ends
  uint64_t duration_ns = 0;        // of the interval; 0: since the start
  std::vector<std::string> comments;
};

// Writes what the endpoints /debug/pprof/heap and /allocs of a Go program answer: alloc_objects, alloc_space,
// inuse_objects, inuse_space, in this order, of all parts in one profile. Equal stacks in two parts share locations,
// and are one sample if their labels are equal, too. Samples of zeros are left out; numbers may be negative if a part
// is subtracted. The file has the mappings of all programs; the first part's executable comes first.
void write_go_heap(std::span<const GoHeapPart> parts, const GoHeapView& view, ByteSink* sink);

// The same in the text format of debug=1, for people: stacks by live memory, the largest first.
// pre: nothing is subtracted.
void write_go_heap_text(std::span<const GoHeapPart> parts, ByteSink* sink);

}  // namespace heapprof::cli
