// cli/write/export/speedscope.h: a file that https://www.speedscope.app opens: a sampled profile for each device and
// metric.
//
// Without choices all devices and all metrics that the profile has, peak of the host first; the viewer switches between
// them.
//
// Guarantees
//  - Bytes are declared as bytes, blocks as plain numbers; the weights of each profile add up to the device's number.
//  - Stacks run from the outermost frame inwards, and are sorted by the names of their frames; a frame is a function of
//    a file.
//  - Valid JSON in valid UTF-8; numbers stay below 2^53.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

void write_speedscope(const Profile& profile, const ExportView& view, ByteSink* sink);

}  // namespace heapprof::cli
