// cli/symbolize/module_names.h: the frames at some addresses of one module: DWARF first, then symbols.
//
// Context:  one thread, no global state. symbolizer.cc runs it in a separate process (worker.h).
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/symbolize/debug_file.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ModuleNames {
  DebugFileState state = DebugFileState::kMissing;
  bool has_debug_info = false;
  bool has_symbols = false;                      // functions in .symtab or .dynsym; set only if they were needed
  std::string missing_file;                      // a missing .dwo file or dwz supplement; empty: no file is missing
  std::optional<int> debuginfod_answer;          // as errno; 0: it sent a file; nullopt: it was not asked
  std::string debug_path;                        // path of the separate debug file that was opened; empty: no such file
  std::vector<std::string> sought_paths;         // paths that had no debug file, if the module has no debug information
  std::vector<std::vector<SourceFrame>> frames;  // by address
  std::vector<CallKeys> calls;                   // likewise
  InferredCalls inferred;                        // of calls that may have elided frames; CallPair::module is 0
};

// addresses_svma: sorted, distinct, inside the instructions meant (return addresses less one). neighbours: pairs of
// this module, sorted. Frames between a pair are inferred only if the addresses of both are in addresses_svma.
ModuleNames read_module_names(const Module& module, std::span<const uint64_t> addresses_svma,
                              std::span<const CallPair> neighbours, const DebugSources& sources);

// As bytes, to pass between processes. decode returns false for bytes that encode cannot have made.
std::string encode(const ModuleNames& names);
bool decode(const std::string& bytes, ModuleNames* names);

}  // namespace heapprof::cli
