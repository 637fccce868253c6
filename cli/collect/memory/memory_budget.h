// cli/collect/memory/memory_budget.h: the limits on this process's memory, and how close to them it is.
//
// The limits are --max-memory (a budget for resident memory), RLIMIT_AS, RLIMIT_DATA, and the memory limits of control
// groups, version 1 and 2: of this process's own group and of those above it as far as they are visible.
//
// Guarantees
//  - The limits are only read, never set; a limit that cannot be read counts as no limit. Limits are read each time:
//    they may change while the program runs.
// Not provided: a promise. Memory grows between two looks; the caller must stop while some is left.
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

// What the caller states about itself.
struct MemoryNeed {
  uint64_t freeable_bytes = 0;  // what it would free if it stopped
  uint64_t finish_bytes = 0;    // what it needs to finish
};

// Whether this process has its own limit on address space or data.
bool is_memory_limited();

class MemoryBudget {
 public:
  // max_bytes 0: no --max-memory. `root` is put before /proc and /sys, for tests.
  explicit MemoryBudget(uint64_t max_bytes = 0, const std::string& root = "");

  // The first limit that leaves less memory than is needed to finish. A control group also contains the program: while
  // heapprof's share is below an eighth of the limit, stopping would not help, and no shortage is reported.
  std::optional<MemoryShortage> shortage(const MemoryNeed& need) const;

 private:
  struct Group {
    UniqueFd limit;
    UniqueFd soft_limit;  // memory.high; above it the group is slowed down
    UniqueFd used;
    UniqueFd stat;
    const char* cache_key;  // in `stat`: file pages that the kernel reclaims when it needs them
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
