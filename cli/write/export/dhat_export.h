// cli/write/export/dhat_export.h: one device as a DHAT file of its own, for Valgrind's dh_view.html.
//
// The top level of a profile holds the host's sites, since viewers know no devices. Here another device's sites stand
// there.
//
// Guarantees
//  - As write_dhat has them; the sums are the device's, and the moment of the peak is its own.
//  - Nothing of other devices is in the file; heapprof reads it as a profile of that one device.
// Without a choice: the host's sites, with everything else that the profile holds, as `heapprof run` would write it
// today.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

void write_dhat_export(const Profile& profile, const ExportView& view, ByteSink* sink);

}  // namespace heapprof::cli
