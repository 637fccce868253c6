// cli/model/profile/unseen_memory.h: device memory that no recorded call of the driver allocated. It is counted
// otherwise or estimated, and not part of the device's totals, except for what calls of the CUDA runtime showed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// The estimated memory of contexts or modules that one stack created: free memory before, less free memory after, less
// what was counted in between.
struct Estimate {
  std::string what;   // "context", "modules"
  uint32_t node = 0;  // the stack that created them
  uint64_t count = 0;
  uint64_t size_bytes = 0;
  uint64_t bound_count =
      0;  // how many had no value before; size_bytes then includes all that was in use, by other processes too
};

struct UnseenMemory {
  uint64_t runtime_bytes = 0;  // allocated by CUDA runtime calls in which no driver call was seen; in the totals
  uint64_t runtime_blocks = 0;
  std::vector<Estimate> estimates;  // the largest first

  bool has_any() const { return runtime_blocks != 0 || !estimates.empty(); }
};

// Merges estimates with the same kind and stack.
void merge_estimates(std::vector<Estimate>* estimates);
// Adds the numbers of two processes.
void add_unseen(UnseenMemory* sum, const UnseenMemory& other);

// The sum of estimates of one kind; what: "context", "modules". The sum's count is 0 if there are no such estimates.
Estimate sum_of_estimates(const UnseenMemory& unseen, const std::string& what);

}  // namespace heapprof::cli
