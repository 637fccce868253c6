// cli/run/spill_file.h: keeps the recordings of ended processes on disk until their profiles are written.
//
// Guarantees
//  - take() returns exactly what put() took. The file has no name, so the kernel removes it when the run ends, even if
//    the run is killed.
//  - When lists are taken back, their space on disk is freed, if the file system can punch holes.
// Context:  put() by one thread at a time; take() by any thread.
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

  // Moves the lists of *recording to disk. False: they cannot be written, as when the disk is full, and *recording is
  // unchanged.
  bool put(Recording* recording, Extent* extent);
  // Moves the lists back from disk. False: they cannot be read.
  bool take(const Extent& extent, Recording* recording);

 private:
  std::string folder_;
  UniqueFd fd_;
  uint64_t end_off_ = 0;
};

}  // namespace heapprof::cli
