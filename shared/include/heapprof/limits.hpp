// heapprof/limits.hpp: limits on the memory that a stretch of a program takes, checked if it runs under heapprof.
//
// Header only, C++17: nothing to link. heapprof/catch2.hpp and heapprof/gtest.hpp make a failed limit a failed test.
//
//   HEAPPROF_REQUIRE_MAX_PEAK("64 MiB");            // from here to the end of the block …
//   HEAPPROF_REQUIRE_MAX_ALLOCATIONS(100);
//   HEAPPROF_REQUIRE_NO_LEAKS();
//   HEAPPROF_REQUIRE_MAX_PEAK("2 GiB", "cuda:0");   // … of another device than "host"
//   HEAPPROF_REQUIRE(use.total_bytes <= 2 * use.peak_bytes);
//
// A limit that is exceeded is reported to the handler (set_limit_handler) when the block is left. Without a handler,
// need, found, the sites, file and line go to stderr, and the program aborts, as by assert(). A limit that could not be
// checked (no profiler, no answer) passes, and stderr says "not checked" once; with HEAPPROF_REQUIRED=1 in the
// environment it fails.
//
// Guarantees
//  - Limits may be nested, and open in several threads: each has its own numbers. A device has one phase at a time.
//    All open limits are in one list; when a phase ends, its peak is passed to all of them
//    (tests/unit/public_headers/limits_test.cc).
//  - A limit allocates nothing between its begin and its end. A failure is reported only after the last open limit of
//    the same thread has ended, so that thread's limits do not count what the report allocates.
//  - The numbers are those of heapprof/heapprof.h: exact, and of all threads unless stated otherwise.
// Not provided: a right peak if the program calls heapprof_begin_phase() itself. While limits are open, call
//    heapprof::begin_phase() instead.
//
// Context:  any thread, not signal handlers. A limit is not judged if an exception leaves its block, nor in a child
//           that was forked while it was open.
// Cost:     two queries, 0.2 to 2 ms each; without the profiler, a load and a branch.
#ifndef HEAPPROF_LIMITS_HPP
#define HEAPPROF_LIMITS_HPP

#include "heapprof/heapprof.h"
#include "heapprof/limit_failure.hpp"
#include "heapprof/open_limits.hpp"
#include "heapprof/size.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

namespace heapprof {

namespace detail {

// What a limit allows, and on which device.
struct Need {
  Size size;
  const char* device;
};
inline Need at_most(const Size& size, const char* device = "host") { return {size, device}; }
template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
Need at_most_blocks(Integer blocks, const char* device = "host") {
  return {Size(blocks), device};
}
inline Need nothing(const char* device = "host") { return {Size(0), device}; }

}  // namespace detail

// A limit from its construction to end(), or to its destruction. text, file: kept as pointers, not copied.
class Limit {
 public:
  Limit(LimitKind kind, const char* text, const char* file, int line, const detail::Need& need) noexcept {
    describe(kind, text, file, line, need.device);
    const ParsedSize size = need.size.parsed();
    failure_.need = size.bytes;
    if (!size) {
      fail_at_once(size.fault == SizeFault::kAmbiguous ? LimitFault::kAmbiguousSize : LimitFault::kBadSize,
                   need.size.text());
    } else {
      begin();
    }
  }

  // condition: bool(const Usage&); it must live as long as the limit.
  template <class Condition>
  Limit(const char* text, const char* file, int line, const Condition& condition, const char* device = "host") noexcept
      : condition_(&condition), ask_([](const void* object, const Usage& use) {
          return static_cast<bool>((*static_cast<const Condition*>(object))(use));
        }) {
    describe(LimitKind::kCondition, text, file, line, device);
    begin();
  }

  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { end(); }

  // stop() reads the numbers of this moment; end() judges them, and reports a limit that is exceeded.
  void stop() noexcept {
    if (state_ != State::kOpen) return;
    state_ = State::kStopped;
    if (getpid() != process_) {
      state_ = State::kEnded;
      return;
    }
    if (std::uncaught_exceptions() > exceptions_) {
      unlink();
      forget();
      why_not_ = NotChecked::kException;
      return;
    }
    const bool needs_phase = has_phase();
    if (!needs_phase) look();  // the numbers first; the list can wait
    const auto lock = detail::g_open_limits.lock();
    if (needs_phase) look();
    unlink_locked();
  }

  void end() noexcept {
    stop();
    if (state_ != State::kStopped) return;
    state_ = State::kEnded;
    if (why_not_ != NotChecked::kNone) {
      if (!must_fail()) return flush();
      failure_.fault = LimitFault::kNotChecked;
      failure_.why_not = why_not_;
    } else if (!is_over()) {
      return flush();
    }
    if (keep()) return;
    flush();
    detail::report(failure_);
  }

  // What was used, once the limit is stopped; nullptr if the profiler did not answer.
  const Usage* usage() const noexcept {
    return state_ == State::kStopped && why_not_ == NotChecked::kNone ? &failure_.use : nullptr;
  }
  std::uint64_t live_at_begin() const noexcept { return begin_.live_bytes; }
  // The measurement, which the profiler can explain once the limit is stopped.
  std::uint64_t measurement() const noexcept { return failure_.measurement; }

  // Ends the limit without judging it: the test has failed for another reason.
  void cancel() noexcept {
    if (state_ == State::kOpen && getpid() == process_) {
      unlink();
      forget();
    }
    state_ = State::kEnded;
    flush();
  }

 private:
  friend int begin_phase(const char* device, heapprof_stats* stats) noexcept;
  enum class State : std::uint8_t { kOpen, kStopped, kEnded };

  bool has_phase() const { return failure_.kind == LimitKind::kPeak || failure_.kind == LimitKind::kCondition; }

  void describe(LimitKind kind, const char* text, const char* file, int line, const char* device) noexcept {
    failure_.kind = kind;
    failure_.text = text;
    failure_.file = file;
    failure_.line = line;
    failure_.set_device(device == nullptr ? "host" : device);
  }

  void fail_at_once(LimitFault fault, std::string_view detail) noexcept {
    state_ = State::kEnded;
    failure_.fault = fault;
    failure_.set_detail(detail);
    detail::report(failure_);
  }

  void begin() noexcept {
    process_ = getpid();
    thread_ = std::this_thread::get_id();
    exceptions_ = std::uncaught_exceptions();
    int result = HEAPPROF_OK;
    {
      const auto lock = detail::g_open_limits.lock();
      if (has_phase()) {  // from here on phases of other threads write to this limit, under the lock
        result = begin_phase_locked(failure_.device, &begin_, &failure_.measurement);
        peak_bytes_ = begin_.live_bytes;
        note(result, NotChecked::kNoProfiler);
      }
      next_ = detail::g_open_limits.first;
      detail::g_open_limits.first = this;
    }
    if (!has_phase()) {  // the query is the last step of begin()
      result = heapprof_begin_measurement(failure_.device, 0, &begin_, &failure_.measurement);
      if (failure_.kind == LimitKind::kThreadAllocations) result = heapprof_get_thread_stats(&thread_begin_);
      note(result, NotChecked::kNoProfiler);
    }
    if (result == HEAPPROF_UNKNOWN_DEVICE) {
      unlink();
      fail_at_once(LimitFault::kUnknownDevice, failure_.device);
    }
  }

  // Begins a phase. The phase that ends here is a part of every open limit of the device. measurement: nullptr for
  // none.
  static int begin_phase_locked(const char* device, heapprof_stats* stats, std::uint64_t* measurement) noexcept {
    const int result = measurement == nullptr ? heapprof_begin_phase(device, stats)
                                              : heapprof_begin_measurement(device, 1, stats, measurement);
    if (result != HEAPPROF_OK && result != HEAPPROF_UNAVAILABLE) return result;
    for (Limit* limit = detail::g_open_limits.first; limit != nullptr; limit = limit->next_) {
      if (!limit->has_phase() || std::strcmp(limit->failure_.device, device) != 0) continue;
      if (result == HEAPPROF_OK) limit->raise_peak(stats->phase_peak_bytes);
      if (result == HEAPPROF_UNAVAILABLE) limit->why_not_ = NotChecked::kPhaseLost;  // the phase may still have begun
    }
    return result;
  }

  void raise_peak(std::uint64_t bytes) noexcept {
    if (bytes > peak_bytes_) peak_bytes_ = bytes;
  }

  void note(int result, NotChecked inactive) noexcept {
    if (result == HEAPPROF_INACTIVE) why_not_ = inactive;
    if (result == HEAPPROF_UNAVAILABLE) why_not_ = NotChecked::kNoAnswer;
  }

  // Ends the measurement: its sites are not needed any more.
  void forget() noexcept {
    heapprof_stats ignored{};
    if (failure_.measurement != 0) heapprof_end_measurement(failure_.device, failure_.measurement, &ignored);
    failure_.measurement = 0;
  }

  void look() noexcept {
    if (why_not_ != NotChecked::kNone) return forget();
    Usage& use = failure_.use;
    if (failure_.kind == LimitKind::kThreadAllocations) {
      if (std::this_thread::get_id() != thread_) {
        why_not_ = NotChecked::kOtherThread;
        return forget();
      }
      heapprof_thread_stats now{};
      note(heapprof_get_thread_stats(&now), NotChecked::kRecordingEnded);
      heapprof_stats of_all{};
      heapprof_end_measurement(failure_.device, failure_.measurement, &of_all);
      use.total_bytes = now.total_bytes - thread_begin_.total_bytes;
      use.total_blocks = now.total_blocks - thread_begin_.total_blocks;
      return;
    }
    heapprof_stats now{};
    note(heapprof_end_measurement(failure_.device, failure_.measurement, &now), NotChecked::kRecordingEnded);
    raise_peak(now.phase_peak_bytes);
    use.peak_bytes = peak_bytes_ - begin_.live_bytes;
    use.total_bytes = now.total_bytes - begin_.total_bytes;
    use.total_blocks = now.total_blocks - begin_.total_blocks;
    use.live_bytes = static_cast<std::int64_t>(now.live_bytes - begin_.live_bytes);
    use.live_blocks = static_cast<std::int64_t>(now.live_blocks - begin_.live_blocks);
    failure_.live_at_begin = begin_.live_bytes;
  }

  bool is_over() noexcept {
    if (failure_.kind == LimitKind::kCondition) return !ask_(condition_, failure_.use);
    failure_.found = found_of(failure_.kind, failure_.use);
    return failure_.found > failure_.need;
  }

  // Whether an unchecked limit fails; if not, stderr gets a line, once for each reason.
  bool must_fail() const noexcept {
    if (why_not_ != NotChecked::kException && detail::is_required()) return true;
    const unsigned bit = 1u << static_cast<unsigned>(why_not_);
    if ((detail::g_open_limits.said.fetch_or(bit, std::memory_order_relaxed) & bit) == 0)
      std::fprintf(stderr, "heapprof: not checked: %s: %s:%d: %s\n%s", describe_reason(why_not_), failure_.file,
                   failure_.line, failure_.text, advice(why_not_));
    return false;
  }

  // Keeps the failure if the thread that began this limit has others open; false: report it now.
  bool keep() const noexcept {
    auto& all = detail::g_open_limits;
    if (all.handler.load(std::memory_order_acquire) == nullptr) return false;
    const auto lock = all.lock();
    if (!has_open_limit(thread_) || all.pending_count == detail::kMostPending) return false;
    all.pending[all.pending_count++] = {failure_, thread_};
    return true;
  }

  // Reports the failures that were kept for that thread, if no limit of it is open any more.
  void flush() const noexcept {
    auto& all = detail::g_open_limits;
    for (;;) {
      LimitFailure failure;
      {
        const auto lock = all.lock();
        std::size_t at = 0;
        while (at < all.pending_count && all.pending[at].thread != thread_) ++at;
        if (at == all.pending_count || has_open_limit(thread_)) return;
        failure = all.pending[at].failure;
        --all.pending_count;
        for (; at < all.pending_count; ++at) all.pending[at] = all.pending[at + 1];
      }
      detail::report(failure);
    }
  }

  static bool has_open_limit(std::thread::id thread) noexcept {
    for (const Limit* limit = detail::g_open_limits.first; limit != nullptr; limit = limit->next_) {
      if (limit->thread_ == thread) return true;
    }
    return false;
  }

  void unlink() noexcept {
    const auto lock = detail::g_open_limits.lock();
    unlink_locked();
  }
  void unlink_locked() noexcept {
    for (Limit** at = &detail::g_open_limits.first; *at != nullptr; at = &(*at)->next_) {
      if (*at != this) continue;
      *at = next_;
      return;
    }
  }

  LimitFailure failure_;
  heapprof_stats begin_{};
  heapprof_thread_stats thread_begin_{};
  std::uint64_t peak_bytes_ = 0;  // the most that was live, in the phases that have ended
  Limit* next_ = nullptr;
  std::thread::id thread_;
  pid_t process_ = 0;
  int exceptions_ = 0;
  const void* condition_ = nullptr;
  bool (*ask_)(const void*, const Usage&) = nullptr;
  NotChecked why_not_ = NotChecked::kNone;
  State state_ = State::kOpen;
};

// As heapprof_begin_phase(), for use while limits are open.
inline int begin_phase(const char* device = "host", heapprof_stats* stats = nullptr) noexcept {
  heapprof_stats own{};
  const auto lock = detail::g_open_limits.lock();
  return Limit::begin_phase_locked(device == nullptr ? "host" : device, stats != nullptr ? stats : &own, nullptr);
}

}  // namespace heapprof

// The limits. Each holds from its line to the end of the block; sizes are text or integers; a device may follow.
#define HEAPPROF_REQUIRE_MAX_PEAK(...) \
  HEAPPROF_LIMIT_(kPeak, "HEAPPROF_REQUIRE_MAX_PEAK(" #__VA_ARGS__ ")", at_most(__VA_ARGS__))
#define HEAPPROF_REQUIRE_MAX_BYTES(...) \
  HEAPPROF_LIMIT_(kBytes, "HEAPPROF_REQUIRE_MAX_BYTES(" #__VA_ARGS__ ")", at_most(__VA_ARGS__))
#define HEAPPROF_REQUIRE_MAX_ALLOCATIONS(...) \
  HEAPPROF_LIMIT_(kAllocations, "HEAPPROF_REQUIRE_MAX_ALLOCATIONS(" #__VA_ARGS__ ")", at_most_blocks(__VA_ARGS__))
#define HEAPPROF_REQUIRE_MAX_LEAKED(...) \
  HEAPPROF_LIMIT_(kLeaked, "HEAPPROF_REQUIRE_MAX_LEAKED(" #__VA_ARGS__ ")", at_most(__VA_ARGS__))
#define HEAPPROF_REQUIRE_NO_LEAKS(...) \
  HEAPPROF_LIMIT_(kLeaked, "HEAPPROF_REQUIRE_NO_LEAKS(" #__VA_ARGS__ ")", nothing(__VA_ARGS__))
// Counts the calling thread alone, on the host.
#define HEAPPROF_REQUIRE_NO_ALLOCATIONS() \
  HEAPPROF_LIMIT_(kThreadAllocations, "HEAPPROF_REQUIRE_NO_ALLOCATIONS()", nothing())
// Any condition over `use` (heapprof::Usage), evaluated at the end of the block.
#define HEAPPROF_REQUIRE(...) HEAPPROF_REQUIRE_ON("host", __VA_ARGS__)
#define HEAPPROF_REQUIRE_ON(device, ...) \
  HEAPPROF_REQUIRE_AT_(__COUNTER__, device, "HEAPPROF_REQUIRE(" #__VA_ARGS__ ")", __VA_ARGS__)
#define HEAPPROF_REQUIRE_AT_(number, device, text, ...) HEAPPROF_REQUIRE_NAMED_(number, device, text, __VA_ARGS__)
#define HEAPPROF_REQUIRE_NAMED_(number, device, text, ...)                                              \
  const auto heapprof_condition_##number = [&]([[maybe_unused]] const ::heapprof::Usage& use) -> bool { \
    return static_cast<bool>(__VA_ARGS__);                                                              \
  };                                                                                                    \
  const ::heapprof::Limit heapprof_limit_##number(text, __FILE__, __LINE__, heapprof_condition_##number, device)

#define HEAPPROF_LIMIT_(kind, text, need)                                                                           \
  const ::heapprof::Limit HEAPPROF_JOIN_(heapprof_limit_, __COUNTER__)(::heapprof::LimitKind::kind, text, __FILE__, \
                                                                       __LINE__, ::heapprof::detail::need)
#define HEAPPROF_JOIN_(name, number) HEAPPROF_JOINED_(name, number)
#define HEAPPROF_JOINED_(name, number) name##number

#endif  // HEAPPROF_LIMITS_HPP
