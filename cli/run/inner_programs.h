// cli/run/inner_programs.h: the allocators inside the programs of a run; each file is examined once.
//
// Guarantees
//  - A file is recognised by device, inode, size and the time of its last change.
// Context:  one thread.
// Cost:     the first time: cli/inner/inner_plan.h; then 20 µs.
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
  // The allocators in the program's file; nullptr: none, or it cannot be read. left_because: why they are only named;
  // empty: they are to be hooked.
  std::shared_ptr<const InnerProgram> of(const std::string& path, const std::string& left_because);

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t, int64_t, int64_t, std::string>;
  std::map<Key, std::shared_ptr<const InnerProgram>> known_;
};

}  // namespace heapprof::cli
