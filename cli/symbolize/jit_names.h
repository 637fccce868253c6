// cli/symbolize/jit_names.h: names of code that is in no file, from the map that JIT compilers write for perf.
//
// The format is Linux's (tools/perf/Documentation/jit-interface.txt): a line "START SIZE name" for each function, the
// numbers hexadecimal, Java's with a prefix, the name up to the line's end. Code moves and is discarded, so an address
// may be in several lines. The last one counts; for a block that is older than that line, this is a guess. V8's and
// CPython's names are split: "JS:*inner /app/a.js:3:5" is the function "JS:inner" in line 3 of that file, for all of
// V8's compilers.
//
// Trust:    the file is in a folder that all may write to: only a regular file of this user (or root) is read, and
//           anything that does not look like a line is skipped.
// Cost:     one pass over the file; memory only for the requested names.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace heapprof::cli {

// The collector may have opened the map already: it is then the file of the last module, "[JIT]" (process_files.h).
enum class JitMap { kNone, kRead, kRefused };

// Where a JIT compiler in process `pid` writes its map.
std::string jit_map_path(uint64_t pid);

// Names the locations without a module, and puts those that got a name into a module "[JIT]". kNone: there are no such
// locations, or the map is missing or older than this process; kRefused: the map is not a regular file of this user.
JitMap add_jit_names(const std::string& map_path, Recording* recording, SymbolTable* table);

// The name of a line, split into its parts.
SourceFrame jit_frame(std::string_view name);

}  // namespace heapprof::cli
