// cli/inner/planning_time.h: how much processor time a plan may take: the program waits for it, and so do other
// processes of the run.
#pragma once

#include <time.h>

#include <cstdint>

namespace heapprof::cli {

inline constexpr uint64_t kPlanningNs = 2'000'000'000;

// Time of the calling thread: other load on the machine does not count.
class PlanningTime {
 public:
  explicit PlanningTime(uint64_t most_ns) : end_ns_(now_ns() + most_ns) {}
  bool is_spent() const { return now_ns() >= end_ns_; }

 private:
  static uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  }
  uint64_t end_ns_;
};

}  // namespace heapprof::cli
