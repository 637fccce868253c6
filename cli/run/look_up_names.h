// cli/run/look_up_names.h: the names of a recording's locations, from every source that there is.
//
// Debug information and symbols, the maps of compilers at run time (jit_names.h), and calls that left no frame
// (inferred_calls.h).
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/run/symbol_cache.h"
#include "cli/symbolize/symbolizer.h"

namespace heapprof::cli {

// Gives the main program's module its path, too. Modules that cannot be read go to the recording's coverage; where
// memory runs out, all of them. cache: nullptr: no file is read, and only what is not compiled has names.
SymbolTable look_up_names(const SymbolizeOptions& options, SymbolCache* cache, Recording* recording);

// As if none could be read.
void give_up_names(Recording* recording);

}  // namespace heapprof::cli
