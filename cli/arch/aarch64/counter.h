// cli/arch/aarch64/counter.h: the counter that stamps events, which of the kernel's clocks are made from it, and how a
// thread that spins tells the processor.
//
// The counter is the virtual count of the generic timer (cntvct_el0). The architecture promises one system counter for
// all cores, at a fixed frequency. A guest has the host's counter less an offset, which is the same for all its cores.
// No host can scale it, so a guest is moved only between hosts of one frequency. Guests have no other clock of the
// host's.
#pragma once

#include <cstdint>
#include <span>

namespace heapprof::cli {

inline constexpr char kCounterName[] = "system counter";
// The kernel's name for the clock that is this counter, and for clocks of its host that a guest may use instead.
inline constexpr const char* kCounterClock = "arch_sys_counter";
inline constexpr std::span<const char* const> kHostClocks{};
// Some processors read the counter wrongly at times. Their kernel goes on using it, with a remedy (arm_arch_timer.c of
// Linux): programs may not read the counter then, so each attempt traps and the kernel answers, and the vDSO makes a
// system call. Stamps would be right, but dearer than the numbers of a sequence. The vDSO tells these kernels apart.
inline constexpr bool kIsFaultyCounterEmulated = true;
// How many calls are measured at once: a tick may take 100 ns, as long as a system call.
inline constexpr int kCallsAtOnce = 16;
inline constexpr int kMeasurements = 12;

// True if the processor says that the counter runs evenly, whatever the cores do.
inline bool is_counter_invariant() { return true; }

// Reads the counter after all that comes before, and before all that comes after: a core may read a counter some
// instructions early or late, and a fence does not order it. The collector's bounds depend on it: a stamp must not be
// younger than the words of the rings that are read after it (shared/README.md, "Memory order", B).
inline uint64_t read_counter() {
  uint64_t ticks;
  asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
  return ticks;
}

// Until a clock has been compared with the counter for long enough. The firmware tells the frequency, 1 GHz since
// Armv8.6 and often 25 MHz before; it may leave it out.
inline uint64_t guessed_ticks_per_us() {
  uint64_t ticks_per_s;
  asm("mrs %0, cntfrq_el0" : "=r"(ticks_per_s));
  return ticks_per_s < 1'000'000 ? 1 : ticks_per_s / 1'000'000;
}

inline void pause_processor() { asm volatile("yield"); }

// How far ahead a core may read its counter while it waits for a cache line of another core: 1.5 µs, as long as is
// allowed on x86-64, and a tick.
inline uint64_t most_ticks_ahead() { return guessed_ticks_per_us() * 3 / 2 + 1; }

}  // namespace heapprof::cli
