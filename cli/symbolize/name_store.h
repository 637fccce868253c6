// cli/symbolize/name_store.h: names that were found once, kept for the next run: a file for each build id in the user's
// cache folder.
//
// They hold for one build of heapprof, as long as the files that they came from are what they were: their device,
// inode, size and times. So a file that is changed in place is read anew; and a module without debug information, when
// there is a file where a package would bring it.
//
// Guarantees
//  - A file appears whole or not at all, whoever else writes it; a broken one counts as none.
//  - All files together take kMostBytes at most, or what several heapprofs add at one moment; those go first that were
//    of no use for longest.
//  - The folder, the one around it and the user's cache folder are the user's own, and nobody else may write to ours;
//    ours are no links. Otherwise nothing is kept. A cache folder is only made where its parent is the user's own.
//  - Nothing is removed but files that are called as ours are.
// Trust:    a file may be damaged: it has a checksum, and every length is checked.
// Cost:     reading: 50-100 ns a frame. Nothing here is an error: without the folder names are found as without it.
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

// What a file is, as far as that can be told without reading it. All 0: there is none.
struct FileFacts {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size_bytes = 0;
  uint64_t modified_ns = 0;
  uint64_t changed_ns = 0;

  auto operator<=>(const FileFacts&) const = default;
  bool is_there() const { return *this != FileFacts(); }
  // Whether a change after that time of CLOCK_REALTIME would show: the times of files have steps of their own.
  bool is_settled(uint64_t before_ns) const;
};
FileFacts facts_of_path(const std::string& path);

struct KeptNames {
  FileFacts module;                                               // the module's own file
  std::string debug_path;                                         // of its debug file; empty: it has none
  FileFacts debug;                                                // as they were when the names were read
  std::vector<std::string> sought_paths;                          // where there was no debug file, but may be one
  std::unordered_map<uint64_t, std::vector<SourceFrame>> frames;  // by svma
  std::unordered_map<uint64_t, CallKeys> calls;                   // of frames that have some
  InferredCalls inferred;  // also those that came to nothing; CallPair::module is 0
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

  // For the file that is `now` what it is.
  std::optional<KeptNames> find(const std::string& build_id, const FileFacts& now) const;

  // names.module, names.debug: as the files were when the names were read, and settled by then.
  void keep(const std::string& build_id, const KeptNames& names);

 private:
  UniqueFd open_folder(bool is_made) const;
  uint64_t make_room(const std::string& folder, uint64_t bytes) const;

  std::string folder_;
  uint64_t most_bytes_;
  uint64_t room_bytes_ = 0;  // for what is kept, without looking at the folder again
};

}  // namespace heapprof::cli
