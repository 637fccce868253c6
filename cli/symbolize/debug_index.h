// cli/symbolize/debug_index.h: the debug files in folders that the user named, by build id.
//
// Whatever such a file is called and wherever below the folder it lies: a tree of .build-id/ab/cdef.debug, the outputs
// of a build, symbols that were put aside by objcopy.
//
// Guarantees
//  - A file is taken for its build id only. One of a module's name and another build id is told apart, never used.
//  - Of several files of one build id: one with debug information before one with symbols, then by path.
// Context:  scan() before the process that reads them is made; open() there.
// Trust:    strangers' files: only regular ones are opened; symbolic links to folders are not followed.
// Cost:     a look at the header of each file: at most kMostFiles of them.
#pragma once

#include "cli/base/fd.h"
#include "cli/model/profile/recording.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

// Hexadecimal, as a build id is, and long enough to be one. What is not may not be part of a path.
bool is_build_id(const std::string& text);

// A regular file, opened for reading; not open: none, or something else of that name.
UniqueFd open_regular(const std::string& path);

class DebugIndex {
 public:
  static constexpr size_t kMostFiles = 500'000;

  // folders: a debug file itself may stand for a folder.
  static DebugIndex scan(const std::vector<std::string>& folders, const std::vector<Module>& modules);

  // The file of this build id; not open: there is none.
  UniqueFd open(const std::string& build_id, std::string* path) const;

  // A file that is called as the module, or as its debug file, and is of another build: its path; empty: none.
  std::string other_build_of(const Module& module) const;

  bool is_cut_short() const { return is_cut_short_; }  // there were more than kMostFiles

 private:
  void look_at(const std::string& path, const std::map<std::string, bool>& names);

  std::map<std::string, std::vector<std::string>> by_build_id_;  // of modules: paths, the best first
  std::map<std::string, std::string> others_;                    // by file name
  size_t files_ = 0;
  bool is_cut_short_ = false;
};

}  // namespace heapprof::cli
