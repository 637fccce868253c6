// cli/model/analysis/python/marks.h: separate rows for what Python allocates by itself: the import of a library, and
// its own start.
//
// Before the import machinery that an import statement runs, a frame is inserted: "import pandas", with the file and
// line of the statement. It becomes the place of what the machinery, the library's modules and their imports allocate.
// The same holds for code objects and classes of a user's module, but not for what its lines allocate. What the
// interpreter allocates at its start, before any user code runs, has the place "start of Python".
//
// Guarantees
//  - Sites only get additional frames, and sums do not change.
//  - The statement is the one in user code that is nearest to the allocation, or else the outermost one.
//  - A line that imports several modules has one row with their names, up to three.
// Not provided: names of modules that are written in C and linked into the interpreter.
#pragma once

#include "cli/model/profile/profile.h"

namespace heapprof::cli {

// Adds frames and nodes. A profile does not change if it has no Python frames, or if it was marked before.
void mark_python(Profile* profile);

}  // namespace heapprof::cli
