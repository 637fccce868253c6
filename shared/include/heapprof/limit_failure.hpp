// heapprof/limit_failure.hpp: a failed limit of heapprof/limits.hpp, and its message.
//
// Header only, C++17. A LimitFailure is copied as bytes and allocates nothing. message() allocates, and queries the
// profiler for names: it usually waits for some tenths of a second.
#ifndef HEAPPROF_LIMIT_FAILURE_HPP
#define HEAPPROF_LIMIT_FAILURE_HPP

#include "heapprof/heapprof.h"
#include "heapprof/size.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace heapprof {

// What was used between the begin of a limit and its end.
struct Usage {
  std::uint64_t peak_bytes = 0;    // the most that was live, above what was live at the begin
  std::uint64_t total_bytes = 0;   // allocated
  std::uint64_t total_blocks = 0;  // allocations
  std::int64_t live_bytes = 0;     // at the end, beyond those at the begin; negative if more was freed
  std::int64_t live_blocks = 0;
};

enum class LimitKind : std::uint8_t {
  kPeak,
  kBytes,
  kAllocations,
  kThreadAllocations,  // of the calling thread
  kLeaked,
  kCondition,
};

enum class LimitFault : std::uint8_t {
  kOver,
  kBadSize,
  kAmbiguousSize,
  kBadNumber,
  kBadLimit,  // text that names no limit
  kUnknownDevice,
  kNotWatched,  // a device that was not measured from the test's begin
  kNotChecked,  // and HEAPPROF_REQUIRED is set
};

// The number that a limit of that kind is compared with; 0 for a condition.
constexpr std::uint64_t found_of(LimitKind kind, const Usage& use) {
  switch (kind) {
    case LimitKind::kPeak: return use.peak_bytes;
    case LimitKind::kBytes: return use.total_bytes;
    case LimitKind::kAllocations:
    case LimitKind::kThreadAllocations: return use.total_blocks;
    case LimitKind::kLeaked: return use.live_bytes > 0 ? static_cast<std::uint64_t>(use.live_bytes) : 0;
    case LimitKind::kCondition: break;
  }
  return 0;
}

// The measure by which a limit of that kind shows sites. A condition may be about anything; most are about a peak.
constexpr int measure_of(LimitKind kind) {
  switch (kind) {
    case LimitKind::kPeak:
    case LimitKind::kCondition: break;
    case LimitKind::kBytes: return HEAPPROF_TOTAL_BYTES;
    case LimitKind::kAllocations:
    case LimitKind::kThreadAllocations: return HEAPPROF_TOTAL_BLOCKS;
    case LimitKind::kLeaked: return HEAPPROF_LIVE;
  }
  return HEAPPROF_PEAK;
}

// Why a limit was not judged.
enum class NotChecked : std::uint8_t {
  kNone,
  kNoProfiler,
  kRecordingEnded,
  kNoAnswer,
  kPhaseLost,
  kOtherThread,
  kException,
};

constexpr const char* describe_reason(NotChecked why) {
  switch (why) {
    case NotChecked::kNone: return "it was checked";
    case NotChecked::kNoProfiler: return "no profiler records this process";
    case NotChecked::kRecordingEnded: return "the profiler stopped recording before the end of the block";
    case NotChecked::kNoAnswer: return "the profiler could not answer";
    case NotChecked::kPhaseLost: return "the profiler did not answer another limit's question in time";
    case NotChecked::kOtherThread: return "it ended in another thread than it began in";
    case NotChecked::kException: return "an exception left its block";
  }
  return "";
}

// Lines that say what to do about it.
constexpr const char* advice(NotChecked why) {
  switch (why) {
    case NotChecked::kNoProfiler:
      return "  fix: heapprof run -- PROGRAM\n"
             "       (limits that cannot be checked pass; with HEAPPROF_REQUIRED=1 they fail)\n";
    case NotChecked::kRecordingEnded: return "  fix: heapprof's own messages say why it stopped; --max-memory\n";
    case NotChecked::kNoAnswer:
    case NotChecked::kPhaseLost:
      return "  fix: run it again on a machine that is less busy; man 3 heapprof says when\n";
    default: return "";
  }
}

struct LimitFailure {
  LimitFault fault = LimitFault::kOver;
  LimitKind kind = LimitKind::kPeak;
  NotChecked why_not = NotChecked::kNone;
  const char* text = "";  // the limit, as written in the source
  const char* file = "";
  int line = 0;
  char device[32] = {};
  char detail[64] = {};     // the text that could not be parsed, or its beginning
  std::uint64_t need = 0;   // bytes or blocks; 0 for a condition
  std::uint64_t found = 0;  // likewise
  std::uint64_t live_at_begin = 0;
  Usage use;
  std::uint64_t measurement = 0;  // the ended measurement that found it; 0: no measurement

  void set_device(const char* name) noexcept { copy(name, device, sizeof device); }
  void set_detail(std::string_view words) noexcept { copy(words, detail, sizeof detail); }

  // Need, found, file and line, and the sites: lines that each end with a newline.
  std::string message() const {
    std::string lines = "heapprof: " + headline() + "\n";
    lines += "  limit  " + std::string(text) + "\n  at     " + file + ":" + std::to_string(line) + "\n";
    if (fault == LimitFault::kOver) return lines + numbers() + sites();
    if (fault == LimitFault::kNotChecked)
      return lines + "  why    " + describe_reason(why_not) + "\n" + advice(why_not);
    if (fault == LimitFault::kUnknownDevice) return lines + "  fix    host, mapped, cuda:0 …, as profiles call them\n";
    if (fault == LimitFault::kNotWatched)
      return lines +
             "  fix    a default limit of that device, or HEAPPROF_REQUIRE_MAX_PEAK(SIZE, DEVICE) in the test\n";
    if (fault == LimitFault::kBadLimit) return lines + "  fix    peak=SIZE, bytes=SIZE, leaked=SIZE or allocations=N\n";
    if (fault == LimitFault::kBadNumber) return lines + "  fix    allocations are counted: 0, 100\n";
    if (fault == LimitFault::kAmbiguousSize)
      return lines + "  fix    K is KiB (1024) or kB (1000); MiB or MB, GiB or GB …\n";
    return lines + "  fix    a size is like 64MiB, 10kB, 1.5 GiB or 4096\n";
  }

 private:
  static void copy(std::string_view from, char* to, std::size_t room) noexcept {
    const std::size_t length = from.size() < room ? from.size() : room - 1;
    if (length != 0) std::memcpy(to, from.data(), length);
    to[length] = '\0';
  }

  static std::string exact(std::uint64_t bytes) {
    return bytes < 1024 ? format_size(bytes) : format_size(bytes) + " (" + format_exact(bytes) + " B)";
  }
  static std::string counted(std::uint64_t blocks) {
    return format_exact(blocks) + (blocks == 1 ? " allocation" : " allocations");
  }
  static std::string with_sign(std::int64_t number) {
    const bool is_negative = number < 0;
    const std::uint64_t amount =
        is_negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    return (is_negative ? "-" : "") + format_exact(amount);
  }

  std::string headline() const {
    switch (fault) {
      case LimitFault::kOver: break;
      case LimitFault::kBadSize: return "'" + std::string(detail) + "' is no size";
      case LimitFault::kAmbiguousSize: return "'" + std::string(detail) + "' can be read in two ways";
      case LimitFault::kBadNumber: return "'" + std::string(detail) + "' is no number";
      case LimitFault::kBadLimit: return "'" + std::string(detail) + "' is no limit";
      case LimitFault::kNotWatched: return "nothing measured '" + std::string(detail) + "' when the test began";
      case LimitFault::kUnknownDevice: return "there is no device '" + std::string(detail) + "'";
      case LimitFault::kNotChecked: return "a limit was not checked, and HEAPPROF_REQUIRED is set";
    }
    switch (kind) {
      case LimitKind::kPeak: return std::string(device) + " peak is over its limit";
      case LimitKind::kBytes: return std::string(device) + " bytes allocated are over their limit";
      case LimitKind::kAllocations: return std::string(device) + " allocations are over their limit";
      case LimitKind::kThreadAllocations: return "this thread's allocations are over their limit";
      case LimitKind::kLeaked: return std::string(device) + " memory is still live at the end";
      case LimitKind::kCondition: break;
    }
    return "what was required of " + std::string(device) + " memory does not hold";
  }

  std::string numbers() const {
    switch (kind) {
      case LimitKind::kPeak:
        return "  need   at most " + exact(need) + " above what was live at the begin\n  found  " + exact(found) +
               " above " + exact(live_at_begin) + "\n";
      case LimitKind::kLeaked:
        return "  need   at most " + exact(need) + " more than at the begin\n  found  " + exact(found) + " more, in " +
               with_sign(use.live_blocks) + (use.live_blocks == 1 ? " more block\n" : " more blocks\n");
      case LimitKind::kBytes:
        return "  need   at most " + exact(need) + " allocated\n  found  " + exact(found) + " by " +
               counted(use.total_blocks) + "\n";
      case LimitKind::kAllocations:
      case LimitKind::kThreadAllocations:
        return "  need   " + (need == 0 ? "no allocation" : "at most " + counted(need)) + "\n  found  " +
               counted(found) + " of " + exact(use.total_bytes) + "\n";
      case LimitKind::kCondition: break;
    }
    return "  found  use.peak_bytes " + format_exact(use.peak_bytes) + ", use.total_bytes " +
           format_exact(use.total_bytes) + ", use.total_blocks " + format_exact(use.total_blocks) +
           ",\n         use.live_bytes " + with_sign(use.live_bytes) + ", use.live_blocks " +
           with_sign(use.live_blocks) + "\n";
  }

  // The sites, and the profile's path; if there are no sites, only the path.
  std::string sites() const {
    std::string lines;
    char names[4096];  // on the stack: other threads' limits would count an allocation
    if (measurement != 0 &&
        heapprof_explain_measurement(measurement, measure_of(kind), names, sizeof names) == HEAPPROF_OK) {
      const std::string_view said = names;
      for (std::size_t begin = 0, end = said.find('\n'); end != std::string::npos; end = said.find('\n', begin)) {
        lines += begin == 0 ? "  sites  " : "         ";
        lines += said.substr(begin, end - begin);
        if (begin == 0 && kind == LimitKind::kThreadAllocations) lines += " (of all threads)";
        lines += '\n';
        begin = end + 1;
      }
    }
    const char* const profile = std::getenv("HEAPPROF_PROFILE");
    lines += lines.empty() ? "  sites  heapprof report" : "  all    heapprof report";
    if (profile == nullptr || *profile == '\0')
      return lines + ", with the profile that heapprof run writes at the end\n";
    return lines + " " + profile + "   (written when the program has ended)\n";
  }
};

using LimitHandler = void (*)(const LimitFailure& failure);

}  // namespace heapprof

#endif  // HEAPPROF_LIMIT_FAILURE_HPP
