// cli/model/analysis/sampling.h: how far the estimates of a sampled profile may be from the true values.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>

namespace heapprof::cli {

// Half of the 95 % confidence interval for a sum of that many estimated blocks and bytes of the heap. 0 if every block
// was recorded.
//
// A block of S = x·R bytes adds S²(1/p − 1 + p·f(1 − f)) to the variance of a sum, where p = 1 − e^(−x), and f is what
// rounding takes off 1/p (cli/collect/books/sample_weight.h). That is at most x·R² and at most 1.083·R², whatever x is.
// So N blocks of B bytes have a variance of at most min(B·R, 1.083·N·R²), and the interval is too wide rather than too
// narrow.
uint64_t sampling_error_bytes(uint64_t bytes, uint64_t blocks, uint64_t interval_bytes);

// The limits of an interval (shared/sampling.h).
inline constexpr uint64_t kLeastIntervalBytes = 256;
inline constexpr uint64_t kMostIntervalBytes = uint64_t{1} << 34;

// "sampled, one block for each 512 KiB"; empty if every block was recorded.
std::string sampling_words(const Profile& profile);
// " # sampled, …", which is appended to the command in files for other tools. Empty if every block was recorded.
std::string sampling_comment(const Profile& profile);

// Why no verdict may use the profile's numbers: "is sampled, …", "was paused for …"; empty if every block was recorded.
std::string why_partial(const Profile& profile);

// The sampling interval of that device's blocks; 0: all of them are in the profile.
uint64_t interval_of(const Profile& profile, const Device& device);

}  // namespace heapprof::cli
