// cli/arch/x86_64/counter.h: the counter that stamps events, which of the kernel's clocks are made from it, and how a
// thread that spins tells the processor.
#pragma once

#include <cpuid.h>

#include <cstdint>

namespace heapprof::cli {

inline constexpr char kCounterName[] = "time stamp counter";
// The kernel's name for the clock that is this counter, and for clocks of its host that a guest may use instead.
inline constexpr const char* kCounterClock = "tsc";
inline constexpr const char* kHostClocks[] = {"kvm-clock", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr",
                                              "xen"};
// The kernel takes a faulty counter off its list of clocks, and a program that reads it all the same gets what it
// holds.
inline constexpr bool kIsFaultyCounterEmulated = false;
// How many calls are measured at once: a tick is shorter than a call.
inline constexpr int kCallsAtOnce = 1;
inline constexpr int kMeasurements = 200;

// True if the processor says that the counter runs evenly, whatever the cores do.
inline bool is_counter_invariant() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & 1u << 8) != 0;
}

inline uint64_t read_counter() { return __builtin_ia32_rdtsc(); }

// Until a clock has been compared with the counter for long enough. (The frequency from CPUID is not used: many
// processors do not report it.)
inline uint64_t guessed_ticks_per_us() { return 3000; }

inline void pause_processor() { __builtin_ia32_pause(); }

// How far ahead a core may read its counter while it waits for a cache line of another core: 170 were measured on a
// quiet machine.
inline uint64_t most_ticks_ahead() { return 4096; }

}  // namespace heapprof::cli
