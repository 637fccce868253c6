// cli/model/analysis/python/marks.h: rows of their own for what Python allocates by itself: an import of a library, and
// its own start.
//
// In front of the import machinery that an import statement runs, a frame is added: "import pandas", with the file and
// line of the statement. What the machinery, the library's modules and whatever they import allocate is placed there.
// Code objects and classes of a module of the user's own are placed likewise, but what its lines allocate is theirs.
// What the interpreter allocates while it starts, before any code of the user's runs, is placed at "start of Python".
//
// Guarantees
//  - Sites stay as they are, but for the frames that are added; sums do not change.
//  - The statement is that of the user's own code which is nearest to the allocation; without any the outermost one.
//  - A line that imports several modules has one row with their names, up to three.
// Not provided: names of modules that are written in C and linked into the interpreter.
#pragma once

#include "cli/model/profile/profile.h"

namespace heapprof::cli {

// Adds frames and nodes. Of a profile without frames of Python nothing changes; nor where it was done before.
void mark_python(Profile* profile);

}  // namespace heapprof::cli
