// cli/model/analysis/sampling.cc: see sampling.h.
#include "cli/model/analysis/sampling.h"

#include "cli/base/units.h"

#include <algorithm>
#include <cmath>

namespace heapprof::cli {

uint64_t sampling_error_bytes(uint64_t bytes, uint64_t blocks, uint64_t interval_bytes) {
  constexpr double kOf95 = 1.959964;
  const auto interval = static_cast<double>(interval_bytes);
  const double variance =
      std::min(static_cast<double>(bytes) * interval, 1.083 * static_cast<double>(blocks) * interval * interval);
  return static_cast<uint64_t>(std::min(std::ceil(kOf95 * std::sqrt(variance)), 0x1p63));
}

std::string sampling_words(const Profile& profile) {
  const uint64_t interval_bytes = profile.run.sampling.interval_bytes;
  return interval_bytes == 0 ? "" : "sampled, one block for each " + format_bytes(interval_bytes);
}

std::string sampling_comment(const Profile& profile) {
  const std::string words = sampling_words(profile);
  return words.empty() ? "" : "  # " + words;
}

std::string why_partial(const Profile& profile) {
  const uint64_t paused_ns = profile.run.sampling.unrecorded_ns;
  if (const std::string words = sampling_words(profile); !words.empty())
    return "is " + words + ": its numbers are estimates";
  return paused_ns == 0 ? "" : "was paused for " + format_time(paused_ns) + ": what was allocated then is in no number";
}

uint64_t interval_of(const Profile& profile, const Device& device) {
  return device.name == "host" ? profile.run.sampling.interval_bytes : 0;
}

}  // namespace heapprof::cli
