// cli/symbolize/jit_names.h: names of code that no file holds, from the map that JIT compilers write for perf.
//
// The format is Linux's (tools/perf/Documentation/jit-interface.txt): a line "START SIZE name" for each function, the
// numbers hexadecimal, Java's with a prefix, the name up to the line's end. Code moves and is thrown away: the last
// line for an address counts, which is a guess for blocks that are older than it. V8's and CPython's names are taken
// apart: "JS:*inner /app/a.js:3:5" is the function "JS:inner" in line 3 of that file, whichever of V8's compilers made
// the code.
//
// Trust:    a file in a folder that everybody may write to: only a plain file of this user's (or root's) is read, and
//           what does not look like a line is passed over.
// Cost:     one pass over the file; memory only for the names that are asked for.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace heapprof::cli {

// The map may have been opened by the collector already: as the file of a last module "[JIT]" (process_files.h).
enum class JitMap { kNone, kRead, kRefused };

// Where a JIT compiler in process `pid` writes its map.
std::string jit_map_path(uint64_t pid);

// Names the locations without a module, and puts those that got a name into a module "[JIT]". kNone: there are no such
// locations, or no such file from this process's time; kRefused: not a plain file of ours.
JitMap add_jit_names(const std::string& map_path, Recording* recording, SymbolTable* table);

// The name of a line, taken apart.
SourceFrame jit_frame(std::string_view name);

}  // namespace heapprof::cli
