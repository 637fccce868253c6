// cli/merge/merge_files.h: many profiles as one, on all cores.
//
// Guarantees
//  - A file is read when a core is free for it, and its numbers are added up at once: what is held is a sum and a file
//    for each core, whatever the number of files.
//  - The result does not depend on the cores (cli/model/compare/merge_profiles.h).
// Trust:    the files are hostile, see cli/read/read_profile.h.
// Cost:     tests/bench/runs, "ranks": time and memory of 1,000 profiles of 20,000 sites.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heapprof::cli {

// A file that was merged, and what its input in the sum is known by.
struct ReadFile {
  std::string path;
  std::string file;  // its name
  uint64_t pid = 0;
  uint32_t image = 0;
  int64_t start_unix_ns = 0;
  uint64_t snapshots = 0;  // that no sum has
  bool is_sum = false;
};
// Whether both are one process's, and none is a sum.
bool is_same_process(const ReadFile& a, const ReadFile& b);

struct MergedFiles {
  Profile profile;
  std::vector<ReadFile> files;  // in the order in which they were named
};
// pre: there are files. done(count): so many have been read; from any thread, one at a time.
Result<MergedFiles> merge_files(const std::vector<std::string>& files, const std::function<void(size_t)>& done);

}  // namespace heapprof::cli
