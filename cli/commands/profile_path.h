// cli/commands/profile_path.h: the names of the profiles of one run.
//
//   FILE                     the last image of the started program
//   FILE.exec1, .exec2 …     (before the extension) images that it left by exec
//   FILE.PID                 (before the extension) processes that it started
#pragma once

#include "cli/model/run.h"

#include <cstdint>
#include <string>

namespace heapprof::cli {

// heapprof.PROGRAM.PID.json in the current folder.
std::string default_profile_path(const std::string& program, uint64_t pid);

struct ImageName {
  bool is_root = false;
  bool is_last = false;
  uint64_t pid = 0;
  uint32_t image = 0;
};
std::string profile_path(const std::string& root_path, const ImageName& image);

}  // namespace heapprof::cli
