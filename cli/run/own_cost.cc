// cli/run/own_cost.cc: see own_cost.h.
#include "cli/run/own_cost.h"

#include <sys/resource.h>

#include <cstdint>

namespace heapprof::cli {

namespace {

uint64_t timeval_ns(const timeval& value) {
  return static_cast<uint64_t>(value.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(value.tv_usec) * 1'000;
}

}  // namespace

void measure_own_cost(Cost* cost) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  cost->collector_cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
  cost->collector_peak_resident_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace heapprof::cli
