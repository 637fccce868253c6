// cli/run/spill_file.h: keeps the numbers of ended processes on disk until their profiles are written.
//
// Guarantees
//  - take() returns exactly what put() took. The file has no name: it is gone when the run is over, however that ends.
//  - Space of lists that were taken back is freed (if the file system can punch holes).
// Context:  put() from one thread at a time; take() from any.
// Cost:     a copy to the page cache, about 1 GB/s; a C++ compiler's 958,000 stacks are 250 MB.
#pragma once

#include "cli/base/fd.h"
#include "cli/model/profile/recording.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// The bytes that put() would move: locations, stacks, sites and timelines; the rest of a recording is small.
uint64_t spillable_bytes(const Recording& recording);

class SpillFile {
 public:
  explicit SpillFile(std::string folder) : folder_(std::move(folder)) {}

  struct Extent {
    uint64_t start_off = 0;
    uint64_t size_bytes = 0;
    std::vector<uint64_t> counts;  // elements of each list, in the order of writing
  };

  // Moves the lists of *recording to disk. False: the disk takes no more; *recording is whole.
  bool put(Recording* recording, Extent* extent);
  // Brings them back. False: they cannot be read.
  bool take(const Extent& extent, Recording* recording);

 private:
  std::string folder_;
  UniqueFd fd_;
  uint64_t end_off_ = 0;
};

}  // namespace heapprof::cli
