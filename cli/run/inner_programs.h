// cli/run/inner_programs.h: the allocators inside of the programs of a run; each file is looked at once.
//
// Guarantees
//  - A file is known again by device, inode, size and time of its last change.
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
  // What the program's file has inside; nullptr: nothing, or it cannot be read. left_because: why it is only named;
  // empty: it is to be hooked.
  std::shared_ptr<const InnerProgram> of(const std::string& path, const std::string& left_because);

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t, int64_t, int64_t, std::string>;
  std::map<Key, std::shared_ptr<const InnerProgram>> known_;
};

}  // namespace heapprof::cli
