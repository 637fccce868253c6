// cli/write/report/segments_text.cc: see report_sections.h.
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

std::vector<std::string> moment_line(const char* when, const SegmentsMoment& moment, bool exact_bytes) {
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  std::vector<std::string> pieces = {
      fmt::format("{}: reserved {} in {},", when, bytes(moment.reserved_bytes),
                  format_counted(moment.segments_count, "segment")),
      fmt::format("allocated {},", bytes(moment.allocated_bytes)),
      fmt::format("the rest {},",
                  bytes(moment.reserved_bytes - std::min(moment.reserved_bytes, moment.allocated_bytes))),
      fmt::format("the largest gap {}", bytes(moment.largest_gap_bytes))};
  if (moment.empty_count != 0) {
    pieces.back() += ",";
    pieces.push_back(fmt::format("{} in {} without a tensor", bytes(moment.empty_bytes),
                                 format_counted(moment.empty_count, "segment")));
  }
  if (moment.elsewhere_bytes != 0) {
    pieces.back() += ",";
    pieces.push_back(fmt::format("and {} in no segment that was seen", bytes(moment.elsewhere_bytes)));
  }
  return pieces;
}

}  // namespace

std::vector<std::vector<std::string>> segments_lines(const Device& device, const Profile& profile, bool exact_bytes) {
  std::vector<std::vector<std::string>> lines;
  const std::string suffix = "/tensors";
  if (!device.name.ends_with(suffix)) return lines;
  lines.push_back(
      {fmt::format("tensors inside {}:", device.name.substr(0, device.name.size() - suffix.size())), "no new bytes"});
  const SegmentsUse& use = device.segments;
  if (!use.has_any()) return lines;
  if (use.has_refusal()) lines.push_back(moment_line("when there was no room", use.at_refusal, exact_bytes));
  const std::string peak = fmt::format("at {}, when most was reserved", moment_text(profile, use.at_peak.at_ns));
  lines.push_back(moment_line(peak.c_str(), use.at_peak, exact_bytes));
  if (use.at_end.reserved_bytes != 0) lines.push_back(moment_line("at the end", use.at_end, exact_bytes));
  return lines;
}

}  // namespace heapprof::cli
