// cli/symbolize/name_store.h: caches names for the next run: a file for each build id in the user's cache folder.
//
// The names are valid for one build of heapprof, while the files that they came from are unchanged: their device,
// inode, size and times. So a file that is changed in place is read again; so is a module without debug information,
// once a file appears where a package would install it.
//
// Guarantees
//  - A file appears complete or not at all, even with concurrent writers; a broken one is ignored.
//  - All files together take at most kMostBytes, and beyond that what several heapprofs add at the same moment; the
//    least recently used are removed first.
//  - The folder, its parent and the user's cache folder belong to the user; only the user may write to heapprof's
//    folders, which are not links. Otherwise nothing is cached. A cache folder is created only in a parent that belongs
//    to the user.
//  - Only files named like heapprof's are removed.
// Trust:    a file may be damaged: it has a checksum, and every length is checked.
// Cost:     reading: 50-100 ns a frame. A failure here is not an error: names are then found as without a cache.
#pragma once

#include "cli/base/fd.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

struct stat;

namespace heapprof::cli {

// Identifies a file without reading it. All 0: no file.
struct FileFacts {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size_bytes = 0;
  uint64_t modified_ns = 0;
  uint64_t changed_ns = 0;

  auto operator<=>(const FileFacts&) const = default;
  bool is_there() const { return *this != FileFacts(); }
  // Whether a change after that time of CLOCK_REALTIME would show: file times have a coarser resolution.
  bool is_settled(uint64_t before_ns) const;
};
FileFacts facts_of_path(const std::string& path);

struct KeptNames {
  FileFacts module;                                               // the module's own file
  std::string debug_path;                                         // path of its debug file; empty: no debug file
  FileFacts debug;                                                // facts of the debug file when the names were read
  std::vector<std::string> sought_paths;                          // had no debug file, but may get one
  std::unordered_map<uint64_t, std::vector<SourceFrame>> frames;  // by svma
  std::unordered_map<uint64_t, CallKeys> calls;                   // by svma: keys of frames that have some
  InferredCalls inferred;                                         // also those without a result; CallPair::module is 0
};

class NameStore {
 public:
  static constexpr uint64_t kMostBytes = 256 << 20;
  static constexpr uint64_t kMostFileBytes = 64 << 20;

  // folder: made if it is missing; empty: nothing is kept.
  explicit NameStore(std::string folder, uint64_t most_bytes = kMostBytes);

  // heapprof/names in $XDG_CACHE_HOME or ~/.cache; empty: the environment names neither.
  static std::string user_folder();

  // The current facts of the module's file.
  static FileFacts facts_of(const Module& module);

  // The names for a file whose facts are `now`.
  std::optional<KeptNames> find(const std::string& build_id, const FileFacts& now) const;

  // names.module, names.debug: the facts when the names were read; they must have been settled (is_settled) then.
  void keep(const std::string& build_id, const KeptNames& names);

 private:
  UniqueFd open_folder(bool is_made) const;
  uint64_t make_room(const std::string& folder, uint64_t bytes) const;

  std::string folder_;
  uint64_t most_bytes_;
  uint64_t room_bytes_ = 0;  // for new files, without scanning the folder again
};

}  // namespace heapprof::cli
