// cli/collect/clock.cc: which clock is trusted, and how long its ticks are.
//
// The kernel decides whether the time stamp counter runs evenly and alike on all cores, as it tests the counter for its
// own clock. The collector takes its answer and does not measure again: a test that runs for a moment misses what
// happens an hour later.
//
// A guest's kernel may use the host's clock although the counter is good enough. Then the kernel's answer is in the
// list of clocks that it could use. It compares the counters of all cores when they start, and does not list `tsc` at
// all if they differ. Later it compares the counter with another clock all the time, and takes `tsc` off the list if
// the counter goes wrong. The list says this only if it has nothing but clocks of high resolution, and `jiffies` is not
// one. A host that promises an invariant counter does not move the guest to a host whose counter runs differently. If a
// physical machine uses a clock other than `tsc`, its kernel distrusts the counter, and so does the collector.
//
// Sandboxes often have no /sys. A list that cannot be read says nothing about the counter, but the vDSO does. All
// clocks that the vDSO can read by itself on x86 are made from the counter (tsc, and the pages of KVM and Hyper-V,
// which say whether the cores' counters agree). With any other clock, the vDSO makes the system call.
//
// All of this is about x86. On aarch64 there is one counter for all cores, which guests have as well, and the kernel
// calls its clock arch_sys_counter. If some processors read this counter wrongly, the kernel keeps the clock and its
// name. But then the vDSO does not read it by itself, so there this is measured also if the list can be read.
//
// Ticks are turned into nanoseconds by two readings of both clocks, as far apart as the run is long. The frequency from
// CPUID is not used: many processors do not report it.
#include "cli/collect/clock.h"

#include "cli/arch/arch.h"
#include "cli/base/clock.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr uint64_t kCalibrationNs = 10'000'000;  // until then, the ticks of a span are guessed

// The names in a file of the kernel's clocks, each between two blanks.
std::string clock_names(const char* file_name) {
  std::ifstream file(std::string("/sys/devices/system/clocksource/clocksource0/") + file_name);
  std::string names = " ";
  for (std::string name; file >> name;) names += name + " ";
  return names;
}

bool has_name(const std::string& names, std::string_view name) {
  return names.find(" " + std::string(name) + " ") != std::string::npos;
}

// The ticks that the fastest of many readings took: interrupts lengthen only the others.
template <typename Function>
uint64_t fewest_ticks(Function read) {
  uint64_t fewest = UINT64_MAX;
  for (int i = 0; i < kMeasurements; ++i) {
    const uint64_t before = read_ticks(wire::ClockMode::kTsc);
    for (int call = 0; call < kCallsAtOnce; ++call) read();
    fewest = std::min(fewest, read_ticks(wire::ClockMode::kTsc) - before);
  }
  return fewest;
}

// Whether the vDSO reads the kernel's clock by itself. If so, a reading takes a tenth of the system call's time. If the
// vDSO has to make that call, a reading takes 0.9 to 1.05 of that time. Both were measured on an EPYC guest, for the
// monotonic clock and for one that the vDSO never reads by itself. Cost: 0.1 ms.
bool is_read_without_kernel() {
  timespec time;
  const uint64_t vdso = fewest_ticks([&] { ::clock_gettime(CLOCK_MONOTONIC, &time); });
  const uint64_t kernel = fewest_ticks([&] { ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time); });
  return vdso < kernel / 2;
}

}  // namespace

bool is_counter_trusted(const std::string& current, const std::string& available) {
  if (has_name(current, kCounterClock)) return true;
  return std::any_of(std::begin(kHostClocks), std::end(kHostClocks),
                     [&current](std::string_view name) { return has_name(current, name); }) &&
         has_name(available, kCounterClock) && !has_name(available, "jiffies") &&
         !has_name(available, "refined-jiffies");
}

wire::ClockMode detect_clock_mode() {
  if (!is_counter_invariant()) return wire::ClockMode::kSequence;
  const std::string current = clock_names("current_clocksource");
  const bool is_unread = current.find_first_not_of(' ') == std::string::npos;
  const bool is_listed = is_unread || is_counter_trusted(current, clock_names("available_clocksource"));
  const bool has_to_measure = is_unread || kIsFaultyCounterEmulated;
  const bool is_trusted = is_listed && (!has_to_measure || is_read_without_kernel());
  return is_trusted ? wire::ClockMode::kTsc : wire::ClockMode::kSequence;
}

wire::FenceMode detect_fence_mode() {
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (commands >= 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0) return wire::FenceMode::kMembarrierExpedited;
  if (commands >= 0 && (commands & MEMBARRIER_CMD_GLOBAL) != 0) return wire::FenceMode::kMembarrierGlobal;
  return wire::FenceMode::kProducerFence;
}

uint64_t read_ticks(wire::ClockMode mode) { return mode == wire::ClockMode::kTsc ? read_counter() : monotonic_ns(); }

TickScale::TickScale(wire::ClockMode mode)
    : mode_(mode), start_(read()), latest_(start_), ns_per_tick_(find_ns_per_tick()) {}

void TickScale::recalibrate() {
  latest_ = read();
  ns_per_tick_ = find_ns_per_tick();
}

// Takes the tightest of three pairs of readings: an interrupt between two readings spoils a pair.
TickScale::Reading TickScale::read() const {
  Reading best{};
  uint64_t best_gap = UINT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = read_ticks(mode_);
    const uint64_t ns = monotonic_ns();
    const uint64_t gap = read_ticks(mode_) - before;
    if (gap < best_gap) {
      best_gap = gap;
      best = {before + gap / 2, ns};
    }
  }
  return best;
}

long double TickScale::find_ns_per_tick() const {
  const uint64_t span_ns = latest_.ns - start_.ns;
  const uint64_t span_ticks = latest_.ticks - start_.ticks;
  const bool is_calibrated = span_ns != 0 && span_ticks != 0;
  return is_calibrated ? static_cast<long double>(span_ns) / static_cast<long double>(span_ticks)
                       : 1000.0L / static_cast<long double>(guessed_ticks_per_us());
}

uint64_t TickScale::to_ns(uint64_t low_ticks, uint64_t high_ticks) const {
  if (mode_ == wire::ClockMode::kSequence) return high_ticks != 0 ? UINT64_MAX : low_ticks;
  const long double ticks = static_cast<long double>(high_ticks) * 0x1p64L + static_cast<long double>(low_ticks);
  const long double ns = ticks * ns_per_tick_ + 0.5L;
  return ns >= 0x1p64L ? UINT64_MAX : static_cast<uint64_t>(ns);
}

uint64_t TickScale::to_ticks(uint64_t span_ns) const {
  if (mode_ == wire::ClockMode::kSequence) return span_ns;
  if (latest_.ns - start_.ns < kCalibrationNs) return span_ns * guessed_ticks_per_us() / 1000;
  return static_cast<uint64_t>(static_cast<long double>(span_ns) *
                               static_cast<long double>(latest_.ticks - start_.ticks) /
                               static_cast<long double>(latest_.ns - start_.ns));
}

}  // namespace heapprof::cli
