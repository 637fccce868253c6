// cli/run/symbol_cache.h: names found for one process serve the next: children of one program share nearly all of them.
//
// Guarantees
//  - Modules whose names could not be read go to unread_modules: each time, and are not tried again.
//  - Names are shared only between modules of the same build id, or of the same path where there is none.
// Context:  any thread; one at a time symbolizes.
// Cost:     symbolizing reads files in a process of its own; what is known costs a look-up.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/symbolize/symbolizer.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

class SymbolCache {
 public:
  SymbolTable symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                        const SymbolizeOptions& options, std::vector<std::string>* unread_modules);

 private:
  using ModuleNames = std::unordered_map<uint64_t, std::vector<SourceFrame>>;  // by svma

  std::mutex mutex_;
  std::map<std::string, ModuleNames> known_;
  std::set<std::string> unread_;  // paths
  size_t known_count_ = 0;
};

}  // namespace heapprof::cli
