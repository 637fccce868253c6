// cli/symbolize/zstd_sections.h: files whose debug sections are compressed with zstd, as libelf before 0.189 can read
// them.
//
// Guarantees
//  - A file without such sections comes back as it is.
// Not provided: .dwo files, which libdw opens itself.
// Trust:    the file is a stranger's: sizes are checked against the file, and what a section says that it grows to
//           against what it may.
// Cost:     a copy of the whole file in memory, and of what is inflated.
#pragma once

#include "cli/base/fd.h"

namespace heapprof::cli {

// A copy of the file in which these sections are inflated. The file itself, where it has none, or where they are
// damaged.
UniqueFd inflate_zstd_sections(UniqueFd file);

}  // namespace heapprof::cli
