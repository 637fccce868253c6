// cli/serve/served_work.h: the work of the server's worker processes: makes answers from snapshots, and from
// collectors' answers.
//
// Context:  a separate process (worker.h).
// Trust:    profiles and collectors' answers come from the user's own files and programs. A broken one is an error.
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

// One profile of a process; with an interval, the first one is subtracted.
struct ReadPart {
  int file = -1;
  bool is_subtracted = false;
  std::vector<std::pair<std::string, std::string>> labels;
};

// Each writes an answer to the sink, and returns its HTTP status.
int write_heap(const std::vector<ReadPart>& parts, const ServedRequest& request, const GoHeapView& view,
               ByteSink* sink);
int write_metrics(const std::vector<ServedProcess>& processes, const MetricsView& view, ByteSink* sink);

}  // namespace heapprof::cli
