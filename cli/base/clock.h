// cli/base/clock.h: the current time in nanoseconds. (cli/collect/clock.h has the time stamps of a target's events.)
#pragma once

#include <time.h>

#include <cstdint>

namespace heapprof::cli {

inline int64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The time since a fixed, unspecified moment: for durations.
inline uint64_t monotonic_ns() { return static_cast<uint64_t>(read_clock_ns(CLOCK_MONOTONIC)); }
// The time since 1970.
inline int64_t unix_ns() { return read_clock_ns(CLOCK_REALTIME); }

}  // namespace heapprof::cli
