// cli/write/export/folded.h: folded stacks, one line for each: "main;load_scene;build_index 1301282816", for
// flamegraph.pl and its kin.
//
// One metric of one device; without a choice the peak of the host.
//
// Guarantees
//  - The outermost frame comes first, inlined frames in their order, no line ends in ";" before its number.
//  - Every line has its stack to itself, and a number above 0; the numbers add up to the device's.
//  - Functions are called by their short names, or with ExportView::full_names by all of them.
//  - Names hold no ";" ("\x3b" stands for it), no line break, and are valid UTF-8.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

void write_folded(const Profile& profile, const ExportView& view, ByteSink* sink);

}  // namespace heapprof::cli
