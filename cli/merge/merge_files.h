// cli/merge/merge_files.h: merges many profiles into one, on all cores.
//
// Guarantees
//  - A file is read when a core is free for it, and its numbers are added up at once: memory holds one sum and one file
//    for each core, whatever the number of files.
//  - The result does not depend on the number of cores (cli/model/compare/merge_profiles.h).
// Trust:    files are untrusted, see cli/read/read_profile.h.
// Cost:     tests/bench/runs, "ranks": time and memory of 1,000 profiles of 20,000 sites.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heapprof::cli {

// A merged file, and the identity of its input in the sum.
struct ReadFile {
  std::string path;
  std::string file;  // its base name
  uint64_t pid = 0;
  uint32_t image = 0;
  int64_t start_unix_ns = 0;
  uint64_t snapshots = 0;  // a sum has no snapshots
  bool is_sum = false;
};
// Whether both are of one process, and neither is a sum.
bool is_same_process(const ReadFile& a, const ReadFile& b);

struct MergedFiles {
  Profile profile;
  std::vector<ReadFile> files;  // in the order of naming
};
// pre: there are files. done(count): the number of files read so far; called from any thread, one at a time.
Result<MergedFiles> merge_files(const std::vector<std::string>& files, const std::function<void(size_t)>& done);

}  // namespace heapprof::cli
