// cli/model/profile/unseen_memory.h: of a device: what no call of its driver said, counted elsewhere or estimated.
// Never part of its totals, but for what the runtime said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// What contexts or modules took, made by one stack: free memory before it, less free memory after, less what was
// counted meanwhile.
struct Estimate {
  std::string what;   // "context", "modules"
  uint32_t node = 0;  // the stack that made them
  uint64_t count = 0;
  uint64_t size_bytes = 0;
  uint64_t bound_count =
      0;  // of them with nothing to compare with: size_bytes has all that was in use, other processes' too
};

struct UnseenMemory {
  uint64_t runtime_bytes =
      0;  // allocated by calls of the CUDA runtime in which no call of the driver was seen; in the totals
  uint64_t runtime_blocks = 0;
  std::vector<Estimate> estimates;  // the largest first

  bool has_any() const { return runtime_blocks != 0 || !estimates.empty(); }
};

// Makes those of one kind and stack one.
void merge_estimates(std::vector<Estimate>* estimates);
// As a sum of two processes'.
void add_unseen(UnseenMemory* sum, const UnseenMemory& other);

// Of one kind; what: "context", "modules". Its count is 0 if there are none.
Estimate sum_of_estimates(const UnseenMemory& unseen, const std::string& what);

}  // namespace heapprof::cli
