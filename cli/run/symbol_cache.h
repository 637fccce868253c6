// cli/run/symbol_cache.h: reuses names that were found for one process for the next. Processes of one program share
// nearly all names, and so do later runs (cli/symbolize/name_store.h).
//
// Guarantees
//  - Names are shared only between modules with the same file (path, build id, device, inode, size, times). They are
//    shared only if these facts would show any change of the file or of its debug file since before the names were
//    read.
//  - A module whose names could not be read is not tried again, and is added to unread_modules each time. A module
//    whose debug information is incomplete is added, too, with the missing part: "render (/build/render.dwo is not
//    there)".
// Context:  any thread; calls of symbolize() wait for each other. The destructor stores new names for later runs.
// Cost:     for new names, a separate process reads the files. A known name costs a look-up, and each module a stat.
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
  // folder: where names of earlier runs are stored; empty: nowhere.
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
    bool is_new = false;         // some names do not come from the store
    bool has_source = false;     // names.debug_path is known
    bool is_settled = true;      // the facts of the files read would show a later change
    bool may_keep = true;        // its debug information is complete and of one file, or it has none
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
