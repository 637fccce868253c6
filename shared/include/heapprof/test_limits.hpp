// heapprof/test_limits.hpp: the limits of one test as text ("peak=64MiB"), for listeners of test frameworks.
//
// Header only, C++17; heapprof/catch2.hpp and heapprof/gtest.hpp use it.
//
//   heapprof::set_default_limits("peak=64MiB,leaked=0");    // for every test that does not set its own
//
// NAME is peak, bytes, leaked (a size) or allocations (a number); a device may precede the value, as in the flags of
// heapprof check: peak=cuda:0=6GiB. HEAPPROF_TEST_LIMITS in the environment replaces the defaults.
#ifndef HEAPPROF_TEST_LIMITS_HPP
#define HEAPPROF_TEST_LIMITS_HPP

#include "heapprof/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapprof {

struct NamedLimit {
  std::string text;   // as it was written
  std::string wrong;  // the part that cannot be parsed
  LimitFault fault = LimitFault::kOver;
  LimitKind kind = LimitKind::kPeak;
  std::string device = "host";
  std::uint64_t need = 0;

  bool is_good() const { return fault == LimitFault::kOver; }
};

namespace detail {

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Always {
  constexpr bool operator()(const Usage&) const { return true; }
};
constexpr Always kAlways{};

inline std::string& default_limits() {
  static std::string text;
  return text;
}

}  // namespace detail

// name: "peak", …; value: [DEVICE=]SIZE. The result says what is wrong.
inline NamedLimit parse_limit(std::string_view name, std::string_view value) {
  NamedLimit limit;
  limit.text = std::string(name) + "=" + std::string(value);
  if (name == "peak") {
    limit.kind = LimitKind::kPeak;
  } else if (name == "bytes") {
    limit.kind = LimitKind::kBytes;
  } else if (name == "leaked") {
    limit.kind = LimitKind::kLeaked;
  } else if (name == "allocations") {
    limit.kind = LimitKind::kAllocations;
  } else {
    limit.fault = LimitFault::kBadLimit;
    limit.wrong = name;
    return limit;
  }
  if (const std::size_t equals = value.rfind('='); equals != std::string_view::npos) {
    limit.device = value.substr(0, equals);
    value.remove_prefix(equals + 1);
  }
  const ParsedSize size = parse_size(value);
  const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
  limit.need = size.bytes;
  if (size.fault == SizeFault::kAmbiguous) limit.fault = LimitFault::kAmbiguousSize;
  if (size.fault == SizeFault::kMalformed) limit.fault = LimitFault::kBadSize;
  if (limit.kind == LimitKind::kAllocations && !is_number) limit.fault = LimitFault::kBadNumber;
  if (!limit.is_good()) limit.wrong = value;
  return limit;
}

// "peak=64MiB, leaked=0"
inline std::vector<NamedLimit> parse_limits(std::string_view text) {
  std::vector<NamedLimit> limits;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = detail::trimmed(text.substr(0, comma));
    const std::size_t equals = std::min(one.find('='), one.size());
    if (!one.empty())
      limits.push_back(parse_limit(one.substr(0, equals), one.substr(std::min(equals + 1, one.size()))));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return limits;
}

// Limits for every test that does not set a limit of that kind and device itself. Call it before the tests begin.
inline void set_default_limits(std::string_view limits) { detail::default_limits() = limits; }

// The limits of one test. All limits of a device share one measurement.
class TestLimits {
 public:
  TestLimits(std::string file, int line) : file_(std::move(file)), line_(line) {
    const char* const value = std::getenv("HEAPPROF_TEST_LIMITS");
    limits_ = parse_limits(value != nullptr ? std::string_view(value) : std::string_view(detail::default_limits()));
  }

  // Replaces a default of that kind and device. After begin() only limits of watched devices can be added.
  void add(NamedLimit limit) {
    const auto is_replaced = [&](const NamedLimit& other) {
      return limit.is_good() && other.is_good() && limit.kind == other.kind && limit.device == other.device;
    };
    if (has_begun_ && limit.is_good() && !is_watched(limit.device)) {
      limit.fault = LimitFault::kNotWatched;
      limit.wrong = limit.device;
    }
    limits_.erase(std::remove_if(limits_.begin(), limits_.end(), is_replaced), limits_.end());
    limits_.push_back(std::move(limit));
  }

  // Before begin(): measures that device, too, for limits that are added after begin().
  void watch(const char* device) { devices_.emplace_back(device); }

  void begin() {
    for (const NamedLimit& limit : limits_) {
      if (limit.is_good() && !is_watched(limit.device)) devices_.push_back(limit.device);
    }
    has_begun_ = true;
    looks_ = std::vector<std::optional<Limit>>(devices_.size());
    // From here on nothing is allocated.
    for (std::size_t i = 0; i < devices_.size(); ++i)
      looks_[i].emplace("the limits of this test", file_.c_str(), line_, detail::kAlways, devices_[i].c_str());
  }

  // Ends all measurements: the numbers are those of this moment.
  void stop() noexcept {
    for (std::optional<Limit>& look : looks_) look->stop();
  }

  // Reports the limits that are exceeded. own: what the framework itself took on the host.
  void end(const Usage& own = {}) {
    stop();
    for (const NamedLimit& limit : limits_) {
      if (!limit.is_good()) report(limit, nullptr, nullptr);
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) judge(i, devices_[i] == "host" ? own : Usage{});
  }

  // The test has failed for another reason.
  void cancel() noexcept {
    for (std::optional<Limit>& look : looks_) look->cancel();
  }

 private:
  bool is_watched(const std::string& device) const {
    return std::find(devices_.begin(), devices_.end(), device) != devices_.end();
  }

  void judge(std::size_t i, const Usage& own) {
    Limit& look = *looks_[i];
    bool has_limits = false;
    for (const NamedLimit& limit : limits_) has_limits = has_limits || (limit.is_good() && limit.device == devices_[i]);
    if (!has_limits) return look.cancel();
    if (look.usage() == nullptr) return look.end();  // says why it was not checked
    Usage use = *look.usage();
    use.peak_bytes -= std::min(use.peak_bytes, own.peak_bytes);
    use.total_bytes -= std::min(use.total_bytes, own.total_bytes);
    use.total_blocks -= std::min(use.total_blocks, own.total_blocks);
    use.live_bytes -= own.live_bytes;
    use.live_blocks -= own.live_blocks;
    look.end();
    for (const NamedLimit& limit : limits_) {
      if (limit.is_good() && limit.device == devices_[i] && found_of(limit.kind, use) > limit.need)
        report(limit, &use, &look);
    }
  }

  // use, look: nullptr if the limit itself is wrong.
  void report(const NamedLimit& limit, const Usage* use, const Limit* look) const {
    LimitFailure failure;
    failure.fault = limit.fault;
    failure.kind = limit.kind;
    failure.text = limit.text.c_str();
    failure.file = file_.c_str();
    failure.line = line_;
    failure.set_device(limit.device.c_str());
    failure.set_detail(limit.wrong);
    failure.need = limit.need;
    if (use != nullptr) {
      failure.live_at_begin = look->live_at_begin();
      failure.measurement = look->measurement();
      failure.use = *use;
      failure.found = found_of(limit.kind, *use);
    }
    detail::report(failure);
  }

  std::string file_;
  int line_;
  bool has_begun_ = false;
  std::vector<NamedLimit> limits_;
  std::vector<std::string> devices_;
  std::vector<std::optional<Limit>> looks_;
};

}  // namespace heapprof

#endif  // HEAPPROF_TEST_LIMITS_HPP
