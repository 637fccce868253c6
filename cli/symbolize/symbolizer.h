// cli/symbolize/symbolizer.h: names for addresses in ELF files: functions, files, lines and inlined frames.
//
// The only user of elfutils and libiberty. Runs in the collector's process, after the target's end.
//
// Guarantees
//  - A location without symbols stays without; nothing is guessed. A stripped file gives its dynamic symbols.
//  - Modules are read through the descriptor that was opened when they were loaded, if there is one.
//  - Finds separate debug files by build id and .gnu_debuglink, dwz supplements, split DWARF (.dwo), and asks debuginfod
//    where the user's environment names servers.
// Trust:    ELF and DWARF of strangers: a broken file costs its own names, never the run.
// Cost:     grows with the distinct addresses and the compilation units they lie in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/model/recording.h"
#include "cli/model/symbols.h"

namespace heapprof::cli {

struct SymbolizeOptions {
  std::function<void(size_t done_modules, size_t all_modules)> progress;  // may be empty
};

struct SymbolizeReport {
  size_t resolved_locations = 0;     // at least a function name
  size_t unresolved_locations = 0;
  std::vector<std::string> modules_without_symbols;  // paths
};

SymbolTable symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                      const SymbolizeOptions& options, SymbolizeReport* report);

// C++ (Itanium), Rust (legacy and v0) and D names; anything else comes back as it is. Rust hashes are dropped.
std::string demangle(const std::string& name);

}  // namespace heapprof::cli
