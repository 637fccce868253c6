// cli/symbolize/name_store.h: names that were found once, kept for the next run: a file for each build id in the user's
// cache folder.
//
// Kept is what debug information gave, and only as long as the files that it came from are what they were: their
// device, inode, size and times. So a file that is changed in place is read anew. Of a module without debug information
// nothing is kept: a package that brings it may be installed any time.
//
// Guarantees
//  - A file appears whole or not at all, whoever else writes it; a broken one counts as none.
//  - All files together take kMostBytes at most; those go first that were of no use for longest.
//  - A folder of another user is not used.
// Trust:    a file may be damaged: it has a checksum, and every length is checked.
// Cost:     reading: 50-100 ns a frame. Nothing here is an error: without the folder names are found as without it.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

struct stat;

namespace heapprof::cli {

// What a file is, as far as that can be told without reading it. All 0: there is none.
struct FileFacts {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size_bytes = 0;
  uint64_t modified_ns = 0;
  uint64_t changed_ns = 0;

  bool operator==(const FileFacts&) const = default;
};

struct KeptNames {
  FileFacts module;        // the module's own file
  std::string debug_path;  // of its debug file; empty: it has none
  FileFacts debug;
  std::unordered_map<uint64_t, std::vector<SourceFrame>> frames;  // by svma
};

class NameStore {
 public:
  static constexpr uint64_t kMostBytes = 256 << 20;
  static constexpr uint64_t kMostFileBytes = 64 << 20;

  // folder: made if it is missing; empty: nothing is kept.
  explicit NameStore(std::string folder, uint64_t most_bytes = kMostBytes);

  // heapprof/names in $XDG_CACHE_HOME or ~/.cache; empty: the environment names neither.
  static std::string user_folder();

  // What the module's file is now.
  static FileFacts facts_of(const Module& module);

  std::optional<KeptNames> find(const Module& module) const;

  // names.module: as facts_of() was before the names were read, at read_ns of CLOCK_REALTIME. Nothing is kept if a file
  // has changed since, or may have: its times are not a second older.
  void keep(const Module& module, KeptNames names, uint64_t read_ns) const;

 private:
  std::string path_of(const Module& module) const;
  void make_room(uint64_t bytes) const;

  std::string folder_;
  uint64_t most_bytes_;
};

}  // namespace heapprof::cli
