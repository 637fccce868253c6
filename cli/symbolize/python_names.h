// cli/symbolize/python_names.h: names and lines of the Python frames in a recording's stacks.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

namespace heapprof::cli {

// Names the locations that are frames of Python (cli/model/profile/python_code.h), and puts them into a module
// "[Python]". A frame whose code object is unknown is "(Python)". Afterwards table->frames has an entry for each
// location.
void add_python_names(Recording* recording, SymbolTable* table);

}  // namespace heapprof::cli
