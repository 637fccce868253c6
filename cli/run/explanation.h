// cli/run/explanation.h: whose memory a measurement of the program's found, as lines that its own messages can hold.
//
//   80.0 MiB in 1 block
//     load_image  image.cc:41
//     test  image_test.cc:12
//   1.20 MiB in 7 blocks by 3 other sites
//   less 64.0 KiB in 1 block by 1 site, of what was live at the begin
//
// A stack is shown as far as it is the user's own: without the allocator and the standard library, and without what
// runs the test (Catch2, GoogleTest, heapprof's own headers). Stacks that read alike are one.
#pragma once

#include "cli/collect/recorded_changes.h"
#include "cli/model/profile/symbols.h"

#include <string>

namespace heapprof::cli {

// At most wire::kTextBytes; whole lines, each with its end.
std::string explanation_text(const RecordedChanges& changes, const SymbolTable& symbols);

}  // namespace heapprof::cli
