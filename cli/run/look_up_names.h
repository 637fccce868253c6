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

// Also gives the main program's module its path. Modules that cannot be read are listed in the recording's coverage; if
// memory runs out, all modules are. If cache is nullptr, no file is read, and only Python code gets names.
SymbolTable look_up_names(const SymbolizeOptions& options, SymbolCache* cache, Recording* recording);

// Makes the recording say that no module could be read.
void give_up_names(Recording* recording);

}  // namespace heapprof::cli
