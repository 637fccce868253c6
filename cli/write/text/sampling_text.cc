// cli/write/text/sampling_text.cc: see sampling_text.h.
#include "cli/write/text/sampling_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace heapprof::cli {

namespace {

// Joins parts; each line has as many as fit.
std::string filled(std::initializer_list<std::string> parts, size_t columns) {
  std::string text;
  size_t used = 0;
  for (const std::string& part : parts) {
    const size_t width = display_width(part);
    const bool fits = used != 0 && used + 1 + width <= columns;
    if (used != 0) text += fits ? " " : "\n         ";
    used = fits ? used + 1 + width : (used == 0 ? width : width + 9);
    text += part;
  }
  return text + "\n";
}

}  // namespace

std::string sampling_lines(const Profile& profile, size_t columns) {
  const Sampling& sampling = profile.run.sampling;
  std::string text;
  if (sampling.is_sampled())
    text += filled({sampling_words(profile) + " (" + format_counted(sampling.chosen, "block") + ").",
                    "Numbers of the heap are estimates,", "± their error at 95 %;",
                    fmt::format("exact: {} of {} in all", format_counted(sampling.counted, "alloc"),
                                format_bytes(sampling.counted_bytes))},
                   columns);
  if (sampling.unrecorded_ns != 0)
    text += filled({fmt::format("paused   for {} of {}:", format_time(sampling.unrecorded_ns),
                                format_time(profile.run.duration_ns)),
                    "allocations during pauses are not counted"},
                   columns);
  return text;
}

void add_error(const Profile& profile, const Device& device, const PlaceNumbers& numbers, Metric metric,
               std::vector<std::string>* cells) {
  const uint64_t interval_bytes = interval_of(profile, device);
  const uint64_t bytes = is_in_bytes(metric) ? numbers.metric(metric) : numbers.total_bytes;
  const uint64_t blocks = metric == Metric::kPeak     ? numbers.peak_blocks
                          : metric == Metric::kLeaked ? numbers.leaked_blocks
                                                      : numbers.total_blocks;
  if (interval_bytes == 0 || bytes == 0 || cells->size() < 2) return;
  const uint64_t error_bytes = sampling_error_bytes(bytes, blocks, interval_bytes);
  const double percent = 100.0 * static_cast<double>(error_bytes) / static_cast<double>(bytes);
  cells->insert(cells->begin() + 2, percent >= 9.95 ? fmt::format("±{:.0f} %", std::min(percent, 999.0))
                                                    : fmt::format("±{:.1f} %", percent));
}

}  // namespace heapprof::cli
