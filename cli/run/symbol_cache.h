// cli/run/symbol_cache.h: names found for one process serve the next: children of one program share nearly all of them,
// and so do the runs of a day (cli/symbolize/name_store.h).
//
// Guarantees
//  - Names are shared only between modules of the same file as it was (path, build id, device, inode, size, times), and
//    only where a change of it, or of its debug file, since before they were read would show.
//  - Modules whose names could not be read go to unread_modules: each time, and are not tried again. So do those whose
//    debug information is there in part, with what is missing: "render (/build/render.dwo is not there)".
// Context:  any thread; one at a time symbolizes. What is new is kept for later runs by the destructor.
// Cost:     symbolizing reads files in a process of its own; what is known costs a look-up, and a stat a module.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"
#include "cli/symbolize/name_store.h"
#include "cli/symbolize/symbolizer.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
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
    KeptNames names;
    bool is_begun = false;       // was looked for in the store
    bool is_new = false;         // not all of them come from the store
    bool has_source = false;     // names.debug_path is known
    bool is_settled = true;      // what was read came from files that would show a change since
    bool may_keep = true;        // and from whole debug information of one file, or from one without any
    bool is_unreadable = false;  // reading it crashed or did not end
    std::string missing_file;    // of its debug information
  };
  struct Identity {
    std::string path;
    std::string build_id;
    FileFacts facts;
    auto operator<=>(const Identity&) const = default;
  };
  using Entry = std::pair<const Identity, Known>;

  void begin(Entry* entry);
  std::vector<Location> missing_of(const std::vector<Location>& locations, const std::vector<Entry*>& known) const;
  std::vector<CallPair> missing_of(const std::vector<CallPair>& neighbours, const std::vector<Entry*>& known) const;
  void read(const std::vector<Module>& modules, const std::vector<Location>& missing, const SymbolizeOptions& options,
            const std::vector<Entry*>& known);
  void keep_all();

  NameStore store_;
  std::mutex mutex_;
  std::map<Identity, Known> known_;
  size_t known_count_ = 0;
};

}  // namespace heapprof::cli
