// cli/write/history/history_view.h: the memory of runs over time, for people and for scripts.
#pragma once

#include "cli/model/judge/history_series.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct HistoryView {
  std::string file;  // as the user named it
  const std::vector<HistoryEntry>* entries = nullptr;
  std::vector<Series> series;
  uint64_t lines_skipped = 0;
  bool exact_bytes = false;
};

}  // namespace heapprof::cli
