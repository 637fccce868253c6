// cli/run/device_limits.cc: see device_limits.h.
#include "cli/run/device_limits.h"

#include "cli/base/problems.h"
#include "cli/base/units.h"

#include <charconv>

namespace heapprof::cli {

namespace {

constexpr std::string_view kCuda = "cuda:";
constexpr const char* kExpected = "host=SIZE, or cuda:N=SIZE with N from 0 to 15, as in --limit cuda:0=8GiB";

// nullptr: no such device.
uint64_t* find_limit(DeviceLimits* limits, std::string_view device) {
  if (device == "host") return &limits->host_bytes;
  if (device.substr(0, kCuda.size()) != kCuda) return nullptr;
  uint32_t number = 0;
  const char* const end = device.data() + device.size();
  const auto [after, error] = std::from_chars(device.data() + kCuda.size(), end, number);
  return error == std::errc() && after == end && number < limits->cuda.size() ? &limits->cuda[number] : nullptr;
}

}  // namespace

Result<DeviceLimits> parse_limits(const std::vector<std::string>& texts) {
  DeviceLimits limits{};
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string_view device = std::string_view(text).substr(0, equals);
    uint64_t* const limit = equals == std::string::npos ? nullptr : find_limit(&limits, device);
    if (limit == nullptr) return bad_value("--limit", text, kExpected);
    const Result<uint64_t> size_bytes = parse_size(std::string_view(text).substr(equals + 1));
    if (!size_bytes) return size_bytes.problem();
    if (*size_bytes == 0) return bad_value("--limit", text, "a size of 1 B or more");
    *limit = *size_bytes;
  }
  return limits;
}

}  // namespace heapprof::cli
