// cli/run/inner_programs.h: finds allocators that are linked into the executables of a run. Each file is examined once.
//
// Guarantees
//  - A file is recognised by device, inode, size and the time of its last change.
// Context:  one thread.
// Cost:     the first time that of cli/inner/inner_plan.h; afterwards 20 µs.
#pragma once

#include "cli/collect/inner_program.h"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace heapprof::cli {

class InnerPrograms {
 public:
  // The allocators in the program's file; nullptr: the file has none, or cannot be read. left_because: empty if the
  // allocators are to be hooked, else why they are only named.
  std::shared_ptr<const InnerProgram> of(const std::string& path, const std::string& left_because);

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t, int64_t, int64_t, std::string>;
  std::map<Key, std::shared_ptr<const InnerProgram>> known_;
};

}  // namespace heapprof::cli
