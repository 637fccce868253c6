// cli/flags/estimate_options.h: the flags that say what is estimated, and which belong to which kind of estimate.
#pragma once

#include "cli/flags/options.h"
#include "cli/model/estimate/estimate.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kNotGiven = UINT64_MAX;

// As typed.
struct EstimateFlags {
  EstimateFlags() { numbers.fill(kNotGiven); }
  std::vector<std::string> words;     // "tensor", "32x4096"
  std::array<uint64_t, 8> numbers{};  // of --batch and its like
  uint64_t pages = kNotGiven;
  std::string dtype;
  std::string overhead;
};

void declare_estimate_options(Options* options, EstimateFlags* target);
// A problem names what is missing, unknown, or belongs to another kind.
Result<EstimateInput> interpret_estimate(const EstimateFlags& flags);
// A problem if one of `arguments` is a negative number, which would be taken for a flag.
Result<Done> refuse_negative(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
