// cli/serve/served_work.h: what workers make of snapshots, and of collectors' answers.
//
// Context:  a separate process (worker.h).
// Trust:    profiles and answers of collectors are the user's own files and programs; a broken one is an error.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/serve/metrics_text.h"
#include "cli/serve/served_processes.h"
#include "cli/serve/served_request.h"
#include "cli/write/export/pprof.h"

#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

// One of a process's profiles.
struct ReadPart {
  int file = -1;
  bool is_subtracted = false;
  std::vector<std::pair<std::string, std::string>> labels;
};

// Each returns the status of the answer that it wrote.
int write_heap(const std::vector<ReadPart>& parts, const ServedRequest& request, const GoHeapView& view,
               ByteSink* sink);
int write_metrics(const std::vector<ServedProcess>& processes, const MetricsView& view, ByteSink* sink);

}  // namespace heapprof::cli
