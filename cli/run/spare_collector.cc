// cli/run/spare_collector.cc: take() assumes that the collectors of a run differ only in clock, fences, and what is
// recorded from their start.
#include "cli/run/spare_collector.h"

#include "cli/collect/memory/memory_budget.h"

#include <new>

namespace heapprof::cli {

void SpareCollector::prepare() {
  if (spare_ != nullptr || !is_expecting_ || is_memory_limited()) return;
  try {
    Result<std::unique_ptr<ProcessCollector>> collector = ProcessCollector::create(options_);
    if (collector) spare_ = std::move(*collector);
  } catch (const std::bad_alloc&) {  // take() fails as well, and its caller reports it
  }
  is_expecting_ = spare_ != nullptr;  // after a failure, it is tried again only when the next agent has asked
}

Result<std::unique_ptr<ProcessCollector>> SpareCollector::take(const CollectorOptions& options) {
  const bool is_alike = options_.clock_mode == options.clock_mode && options_.fence_mode == options.fence_mode &&
                        options_.recorded == options.recorded && options_.starts_paused == options.starts_paused;
  if (!is_alike) spare_.reset();
  options_ = options;
  if (spare_ != nullptr) return std::move(spare_);
  return ProcessCollector::create(options);
}

}  // namespace heapprof::cli
