// cli/collect/memory/memory_budget.h: the limits on this process's memory, and how near they are.
//
// Known are --max-memory (a budget for resident memory), RLIMIT_AS, RLIMIT_DATA, and the memory limits of control
// groups, version 1 and 2, of this process's own group and of those above it as far as they can be seen.
//
// Guarantees
//  - Reads only; a limit that cannot be read is none. Limits are read each time: they may be changed while the program
//    runs.
// Not provided: a promise. Between two looks memory grows; who stops must do so with something left.
// Cost:     2 µs, and 4 µs for each group with a limit.
#pragma once

#include "cli/base/fd.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct MemoryShortage {
  std::string limit;  // what sets it: "--max-memory", "ulimit -v", "ulimit -d", "the control group"
  uint64_t limit_bytes = 0;
};

// What the caller has to say about itself.
struct MemoryNeed {
  uint64_t freeable_bytes = 0;  // would be given back if it stopped
  uint64_t finish_bytes = 0;    // is needed to come to an end
};

// Whether a limit of this process's own, on its address space or its data, is set.
bool is_memory_limited();

class MemoryBudget {
 public:
  // max_bytes 0: no budget of our own. `root` stands before /proc and /sys, for tests.
  explicit MemoryBudget(uint64_t max_bytes = 0, const std::string& root = "");

  // The first limit under which less is left than is needed to finish. A control group also holds the program: while
  // what is held here is below an eighth of its limit, stopping would not help it and is not asked for.
  std::optional<MemoryShortage> shortage(const MemoryNeed& need) const;

 private:
  struct Group {
    UniqueFd limit;
    UniqueFd soft_limit;  // memory.high; above it the group is slowed down
    UniqueFd used;
    UniqueFd stat;
    const char* cache_key;  // in `stat`: pages of files that the kernel takes back when it needs them
  };
  struct OwnUse {
    uint64_t address_space_bytes = 0;
    uint64_t resident_bytes = 0;  // without files and shared memory
    uint64_t data_bytes = 0;
  };
  OwnUse own_use() const;
  void find_groups(const std::string& root);
  void add_groups(const std::string& mount_point, std::string group, bool is_v2);
  static std::optional<uint64_t> group_limit(const Group& group);
  static uint64_t group_use(const Group& group);

  uint64_t max_bytes_;
  uint64_t page_bytes_;
  UniqueFd statm_;
  std::vector<Group> groups_;
};

}  // namespace heapprof::cli
