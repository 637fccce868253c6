// cli/run/symbol_cache.h: reuses names found for one process for the next: children of one program share nearly all of
// them, and so do the runs of a day (cli/symbolize/name_store.h).
//
// Guarantees
//  - Names are shared only between modules of the same, unchanged file (path, build id, device, inode, size, times),
//    and only if any change of it, or of its debug file, since before they were read would show.
//  - Modules whose names could not be read go to unread_modules each time, and are not tried again. So do those whose
//    debug information is incomplete, with the missing part: "render (/build/render.dwo is not there)".
// Context:  any thread; one at a time symbolizes. The destructor keeps new names for later runs.
// Cost:     symbolizing reads files in a separate process; a known name costs a look-up, and a stat for each module.
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
  // folder: of names of earlier runs; empty: none.
  explicit SymbolCache(const std::string& folder) : store_(folder) {}
  ~SymbolCache();
  SymbolCache(const SymbolCache&) = delete;
  SymbolCache& operator=(const SymbolCache&) = delete;

  SymbolTable symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                        const SymbolizeOptions& options, std::vector<std::string>* unread_modules);

 private:
  struct Known {
    KeptNames names;
    bool is_begun = false;       // has been looked up in the store
    bool is_new = false;         // not all of them come from the store
    bool has_source = false;     // names.debug_path is known
    bool is_settled = true;      // it was read from files that would show a later change
    bool may_keep = true;        // and from complete debug information of one file, or from a file without any
    bool is_unreadable = false;  // reading it crashed or did not end
    std::string missing_file;    // a missing part of its debug information
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
