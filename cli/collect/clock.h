// cli/collect/clock.h: the clocks of a run: which one stamps events, what it reads now, and how its ticks convert to
// nanoseconds.
//
// "Ticks" are those of the time stamp counter, or nanoseconds of the monotonic clock if stamps are numbers of a
// sequence.
#pragma once

#include "shared/wire.h"

#include <cstdint>
#include <string>

namespace heapprof::cli {

// kTsc if the kernel trusts the counter and the processor says it is invariant. Without /sys, the collector measures
// whether the clock can be read without a system call: then the kernel trusts the counter.
wire::ClockMode detect_clock_mode();
// Whether the kernel trusts the counter: its clock is tsc, or it runs in a guest, uses the host's clock, and could use
// tsc. Both arguments are lists of names between blanks, as the kernel writes them.
bool is_counter_trusted(const std::string& current, const std::string& available);
// The cheapest mode that this kernel grants the collector. (The agent says whether the target may register.)
wire::FenceMode detect_fence_mode();

uint64_t read_ticks(wire::ClockMode mode);

// Turns ticks into nanoseconds by two readings of both clocks, at the start and at the end.
class TickScale {
 public:
  explicit TickScale(wire::ClockMode mode);  // reads the clocks
  void recalibrate();                        // reads them again; the longer after the start, the better

  uint64_t start_ticks() const { return start_.ticks; }
  uint64_t start_ns() const { return start_.ns; }
  // Nanoseconds since the start, 0 for earlier ones.
  uint64_t since_start_ns(uint64_t ticks) const { return ticks <= start_.ticks ? 0 : to_ns(ticks - start_.ticks, 0); }
  // A span of time, given as 128 bits.
  uint64_t to_ns(uint64_t low_ticks, uint64_t high_ticks) const;
  uint64_t to_ticks(uint64_t span_ns) const;

 private:
  struct Reading {
    uint64_t ticks;
    uint64_t ns;
  };
  Reading read() const;
  long double find_ns_per_tick() const;

  wire::ClockMode mode_;
  Reading start_;
  Reading latest_;
  long double ns_per_tick_;  // between the two
};

}  // namespace heapprof::cli
