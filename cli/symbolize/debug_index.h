// cli/symbolize/debug_index.h: the debug files in folders that the user named, by build id.
//
// A file may have any name and lie anywhere below the folder: a tree of .build-id/ab/cdef.debug, the outputs of a
// build, symbols that objcopy split off.
//
// Guarantees
//  - A file is chosen only by its build id. One with a module's name and another build id is reported, never used.
//  - Among several files with one build id: debug information before symbols, then by path.
// Context:  scan() before the worker process is forked; open() in it.
// Trust:    files are untrusted: only regular ones are opened; symbolic links to folders are not followed.
// Cost:     reading the header of each file, of at most kMostFiles.
#pragma once

#include "cli/base/fd.h"
#include "cli/model/profile/recording.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

// Whether the text is hexadecimal, and long enough for a build id. Other text must not become part of a path.
bool is_build_id(const std::string& text);

// A regular file, opened for reading; not open if it is missing or not a regular file.
UniqueFd open_regular(const std::string& path);

class DebugIndex {
 public:
  static constexpr size_t kMostFiles = 500'000;

  // folders: an entry may also be a debug file itself.
  static DebugIndex scan(const std::vector<std::string>& folders, const std::vector<Module>& modules);

  // The file with this build id; not open: no such file.
  UniqueFd open(const std::string& build_id, std::string* path) const;

  // The path of a file with the name of the module, or of its debug file, but from another build; empty: no such file.
  std::string other_build_of(const Module& module) const;

  bool is_cut_short() const { return is_cut_short_; }  // there were more than kMostFiles

 private:
  void look_at(const std::string& path, const std::map<std::string, bool>& names);

  std::map<std::string, std::vector<std::string>> by_build_id_;  // paths by the build id of a module, the best first
  std::map<std::string, std::string> others_;                    // paths of files from another build, by file name
  size_t files_ = 0;
  bool is_cut_short_ = false;
};

}  // namespace heapprof::cli
