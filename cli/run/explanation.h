// cli/run/explanation.h: says which code allocated the memory that one of the program's own measurements (heapprof's
// test headers) found. The program puts these lines into its own messages.
//
//   80.0 MiB in 1 block
//     load_image  image.cc:41
//     test  image_test.cc:12
//   1.20 MiB in 7 blocks by 3 other sites
//   less 64.0 KiB in 1 block by 1 site, of what was live at the begin
//
// A stack shows the user's own frames, without the allocator, the standard library and the test runner (Catch2,
// GoogleTest, heapprof's own headers). Stacks with the same text are shown as one.
#pragma once

#include "cli/collect/recorded_changes.h"
#include "cli/model/profile/symbols.h"

#include <string>

namespace heapprof::cli {

// At most wire::kTextBytes of whole lines, each with its line end.
std::string explanation_text(const RecordedChanges& changes, const SymbolTable& symbols);

}  // namespace heapprof::cli
