// cli/run/spare_collector.h: makes an arena and its collector before an agent asks for them.
//
// A program that has forked once will probably fork again, and its child waits in its first malloc for the collector's
// answer. A quarter of that time is spent making the shared memory.
//
// Not provided: a spare if memory is limited, because running processes need that memory for their books.
// Context:  one thread, which also holds the arenas' liveness words (cli/collect/liveness.h).
#pragma once

#include "cli/collect/process_collector.h"

#include <memory>

namespace heapprof::cli {

class SpareCollector {
 public:
  // Says that another process may ask soon.
  void expect() { is_expecting_ = true; }
  // If there is no spare and one may be needed, makes one with the options of the last collector that was taken.
  void prepare();
  // True if prepare() has nothing to do.
  bool is_ready() const { return spare_ != nullptr || !is_expecting_; }
  // Returns the spare if it has these options, else a new collector.
  Result<std::unique_ptr<ProcessCollector>> take(const CollectorOptions& options);

 private:
  std::unique_ptr<ProcessCollector> spare_;
  CollectorOptions options_;  // of the last collector taken, and of the spare
  bool is_expecting_ = false;
};

}  // namespace heapprof::cli
