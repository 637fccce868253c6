// cli/symbolize/zstd_sections.h: converts files with zstd-compressed debug sections, so that libelf before 0.189 can
// read them.
//
// Guarantees
//  - A file without such sections is returned unchanged.
// Not provided: .dwo files, which libdw opens itself.
// Trust:    the file is untrusted: sizes are checked against the file, and a section's stated inflated size against a
//           limit.
// Cost:     a copy of the whole file in memory, and of the inflated sections.
#pragma once

#include "cli/base/fd.h"

namespace heapprof::cli {

// A copy of the file in which these sections are inflated; the file itself if it has none, or if they are damaged.
UniqueFd inflate_zstd_sections(UniqueFd file);

}  // namespace heapprof::cli
