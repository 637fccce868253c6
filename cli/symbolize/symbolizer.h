// cli/symbolize/symbolizer.h: names for addresses in ELF files: functions, files, lines and inlined frames.
//
// The only user of elfutils and libiberty. Runs in the collector's process, after the target's end.
//
// Guarantees
//  - A location without symbols gets no name; nothing is guessed. A stripped file gives its dynamic symbols.
//  - Modules are read through the descriptor that was opened when they were loaded, if it exists.
//  - Finds separate debug files by build id and .gnu_debuglink, dwz supplements, split DWARF (.dwo), and asks
//    debuginfod if the user's environment names servers. Otherwise nothing is fetched.
//  - A file that is not the one that was loaded (its build id differs) gives no names, and is reported, unless its
//    debug file is found by the build id.
// Not provided: names for the vdso and for code without a file; .dwp files before elfutils 0.192.
//
// Context:  forks a child that reads, and waits for it by its pid; call it when no other thread holds locks for long.
// Trust:    ELF and DWARF are untrusted: a broken file costs its own names, never the run (worker.h).
// Cost:     grows with the distinct addresses and their compilation units. Processor time and resident memory, with the
//           mapped file, of tests/support/symbolize_tool on a 2-core machine in November 2026: 7,000 addresses of libc
//           (debug file, -O2) 0.13 s, 37 MB; of libLLVM-14 (110 MB, stripped) 0.03 s; of a 616 MB program of 2,360
//           units of C++ with 385 MB of .debug_info, 7,000 addresses in nearly every unit 2.0 s, 0.8 GB; 40,000
//           addresses 3.7 s, 1.0 GB.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/symbolize/debug_index.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct SymbolizeOptions {
  std::function<void(size_t done_modules, size_t all_modules)> progress;  // may be empty
  uint64_t worker_data_bytes = 0;           // most memory of the process that reads; 0: half of the machine's
  std::string debug_folders;                // where separate debug files are, colon-separated; empty: /usr/lib/debug
  const DebugIndex* debug_index = nullptr;  // the debug files in folders that the user named
  std::vector<CallPair> neighbours;         // pairs in the stacks, sorted, of these locations: for frames between them
};

// The result for one module. If none of its locations was requested, all members have their defaults.
struct ModuleSymbols {
  bool is_read = false;        // the file, or its debug file, was opened and could be read
  bool is_unreadable = false;  // reading it crashed or did not end
  bool has_debug_info = false;
  std::string missing_file;               // a missing .dwo file or dwz supplement, which has a part of it
  std::string debug_path;                 // path of the separate debug file that was opened; empty: no such file
  std::vector<std::string> sought_paths;  // paths that had no debug file (module_names.h)
  std::optional<int> debuginfod_answer;   // as errno; 0: it sent a file; nullopt: it was not asked
};

struct SymbolizeReport {
  size_t resolved_locations = 0;  // those with at least a function name
  size_t unresolved_locations = 0;
  // Paths, each in one list at most:
  std::vector<std::string> modules_without_symbols;     // no location has a name: stripped, gone, or no ELF file
  std::vector<std::string> modules_without_debug_info;  // names from symbols only: no lines, no inlined frames
  std::vector<std::string> changed_modules;             // the file is not the one that was loaded: it was not used
  std::vector<std::string> unreadable_modules;          // reading it crashed or did not end
  std::vector<ModuleSymbols> modules;                   // of each module
};

SymbolTable symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                      const SymbolizeOptions& options, SymbolizeReport* report);

// C++ (Itanium), Rust (legacy and v0) and D names, and gfortran's names of module procedures; anything else is returned
// unchanged. Rust hashes are dropped.
std::string demangle(const std::string& name);
// GNAT's names: "store__load__2" is "store.load". They look like any others, so call it only for code that is known to
// be Ada.
std::string demangle_ada(const std::string& name);

}  // namespace heapprof::cli
