// cli/run/spare_collector.h: an arena, and the collector that reads it, made before an agent asks for them.
//
// A program that has forked once will fork again, and its child waits in its first malloc for the answer. Making the
// shared memory takes a quarter of the answer's time.
//
// Not provided: a spare if memory is limited: running processes need that memory for their books.
// Context:  one thread, which also holds the arenas' liveness words (cli/collect/liveness.h).
#pragma once

#include "cli/collect/process_collector.h"

#include <memory>

namespace heapprof::cli {

class SpareCollector {
 public:
  // Another process may ask soon.
  void expect() { is_expecting_ = true; }
  // Makes the spare, like the last one that was taken, if it is missing and may be needed.
  void prepare();
  // prepare() has nothing to do.
  bool is_ready() const { return spare_ != nullptr || !is_expecting_; }
  // The spare if it is of that kind, else a new one.
  Result<std::unique_ptr<ProcessCollector>> take(const CollectorOptions& options);

 private:
  std::unique_ptr<ProcessCollector> spare_;
  CollectorOptions options_;  // of the last one taken, and so of the spare
  bool is_expecting_ = false;
};

}  // namespace heapprof::cli
