// cli/serve/metrics_text.h: writes numbers of processes as metrics, for Prometheus and similar scrapers.
//
// Guarantees
//  - The text is valid OpenMetrics 1.0, or the older Prometheus text format 0.0.4, even if names contain any bytes.
//  - The number of series is bounded: each process has series for its devices and for at most 64 scopes. Sites have no
//    series.
// Trust:    the target chooses the names of programs, scopes and devices, so they are escaped.
#pragma once

#include "cli/model/top/top_sample.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct ProcessMetrics {
  std::vector<std::pair<std::string, std::string>> labels;  // of the process, by name
  std::optional<TopSample> sample;                          // nullopt: its collector did not answer in time
  uint64_t resident_bytes = 0;                              // 0: unknown
  uint64_t resident_peak_bytes = 0;
};

struct MetricsView {
  bool is_open_metrics = true;
  uint64_t left_out_count = 0;  // processes beyond the limit of served ones
};

std::string metrics_text(const std::vector<ProcessMetrics>& processes, const MetricsView& view);

}  // namespace heapprof::cli
