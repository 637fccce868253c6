// cli/model/profile/unseen_memory.h: a device's memory that no call of its driver showed, counted elsewhere or
// estimated. Never part of its totals, except for what the runtime's calls showed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// What contexts or modules took that one stack made: free memory before, less free memory after, less what was counted
// in between.
struct Estimate {
  std::string what;   // "context", "modules"
  uint32_t node = 0;  // the stack that made them
  uint64_t count = 0;
  uint64_t size_bytes = 0;
  uint64_t bound_count =
      0;  // of them, those without a value before: size_bytes then has all that was in use, by other processes too
};

struct UnseenMemory {
  uint64_t runtime_bytes = 0;  // allocated by CUDA runtime calls in which no driver call was seen; in the totals
  uint64_t runtime_blocks = 0;
  std::vector<Estimate> estimates;  // the largest first

  bool has_any() const { return runtime_blocks != 0 || !estimates.empty(); }
};

// Merges those with the same kind and stack.
void merge_estimates(std::vector<Estimate>* estimates);
// Adds the numbers of two processes.
void add_unseen(UnseenMemory* sum, const UnseenMemory& other);

// The sum for one kind; what: "context", "modules". Its count is 0 if the kind has no estimates.
Estimate sum_of_estimates(const UnseenMemory& unseen, const std::string& what);

}  // namespace heapprof::cli
