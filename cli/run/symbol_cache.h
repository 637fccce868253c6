// cli/run/symbol_cache.h: names found for one process serve the next: children of one program share nearly all of them,
// and so do the runs of a day (cli/symbolize/name_store.h).
//
// Guarantees
//  - Modules whose names could not be read go to unread_modules: each time, and are not tried again.
//  - Names are shared only between modules of the same build id, or of the same path where there is none.
// Context:  any thread; one at a time symbolizes. What is new is kept for later runs by the destructor.
// Cost:     symbolizing reads files in a process of its own; what is known costs a look-up.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/symbolize/name_store.h"
#include "cli/symbolize/symbolizer.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace heapprof::cli {

class SymbolCache {
 public:
  // folder: where names of earlier runs are; empty: nowhere.
  explicit SymbolCache(const std::string& folder) : store_(folder) {}
  ~SymbolCache();
  SymbolCache(const SymbolCache&) = delete;
  SymbolCache& operator=(const SymbolCache&) = delete;

  SymbolTable symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                        const SymbolizeOptions& options, std::vector<std::string>* unread_modules);

 private:
  struct Known {
    Module module;  // without its descriptor
    KeptNames names;
    uint64_t read_ns = 0;     // when the last of them were read, by CLOCK_REALTIME; 0: all come from the store
    bool is_begun = false;    // was looked for in the store
    bool has_source = false;  // names.debug_path is known
    bool may_keep = true;     // all that was read came from whole debug information of one file
  };

  void begin(const Module& module, Known* known);
  std::vector<Location> missing_of(const std::vector<Location>& locations, const std::vector<Known*>& known) const;
  void take(const SymbolizeReport& report, const std::vector<Location>& missing, SymbolTable* found,
            const std::vector<Known*>& known, uint64_t read_ns);

  NameStore store_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;
  std::set<std::string> unread_;  // paths
  size_t known_count_ = 0;
};

}  // namespace heapprof::cli
