// cli/run/look_up_names.h: the names of a recording's locations, from every source.
//
// The sources: debug information and symbols, the perf maps of JIT compilers (jit_names.h), and elided calls
// (inferred_calls.h).
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/run/symbol_cache.h"
#include "cli/symbolize/symbolizer.h"

namespace heapprof::cli {

// Gives the main program's module its path, too. Modules that cannot be read go to the recording's coverage; if memory
// runs out, all of them. cache: nullptr: no file is read, and only code that is not compiled has names.
SymbolTable look_up_names(const SymbolizeOptions& options, SymbolCache* cache, Recording* recording);

// As if no module could be read.
void give_up_names(Recording* recording);

}  // namespace heapprof::cli
