// cli/model/analysis/metric_words.h: the metrics by the words that users type and files hold.
#pragma once

#include "cli/model/analysis/places.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace heapprof::cli {

inline constexpr std::array<std::pair<const char*, Metric>, 5> kMetricWords = {{{"peak", Metric::kPeak},
                                                                                {"total", Metric::kTotal},
                                                                                {"leaked", Metric::kLeaked},
                                                                                {"allocations", Metric::kAllocations},
                                                                                {"temporary", Metric::kTemporary}}};

constexpr const char* metric_word(Metric metric) {
  for (const auto& [word, known] : kMetricWords) {
    if (known == metric) return word;
  }
  return "";
}

// Bytes, or a number of blocks.
constexpr bool is_in_bytes(Metric metric) { return metric != Metric::kAllocations && metric != Metric::kTemporary; }

}  // namespace heapprof::cli
