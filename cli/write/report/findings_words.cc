// cli/write/report/findings_words.cc: a finding is a suspicion with a number, and its words must not say more.
//
// Each sentence says what was counted and by which rule that looks like a problem. What is reckoned and not counted
// (the bytes that a growing vector copied) is said to be; what may be meant (a cache) is not called a leak.
#include "cli/write/report/findings_words.h"

#include "cli/base/text.h"
#include "cli/base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

std::string bytes(const ReportView& view, uint64_t value) {
  return view.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
}

std::string blocks(uint64_t count) { return format_counted(count, "block"); }

uint64_t per_second(uint64_t value, uint64_t over_ns) {
  __extension__ using Wide = unsigned __int128;
  return over_ns == 0 ? value
                      : static_cast<uint64_t>(std::min<Wide>(Wide{value} * 1'000'000'000 / over_ns, UINT64_MAX));
}

std::string twin_text(const Finding& finding, const FrameNames& names) {
  const std::string copy =
      fmt::format("a copy, {}", finding.cost_blocks == 1 ? "one block" : blocks(finding.cost_blocks));
  if (finding.other_frame == kNoModule) return copy + "; the original is of the same size and alive at the same time";
  const std::string where = names.function(finding.other_frame);
  const std::string location = names.short_location(finding.other_frame);
  return fmt::format("{}; what {}{} allocated is of the same size and alive at the same time", copy,
                     shorten_middle(where, 48), location.empty() ? "" : " (" + location + ")");
}

// A sum of runs does not know what was alive at once.
std::string alive_text(const Profile& profile, const Finding& finding) {
  return profile.merged.empty() ? fmt::format("; at most {} alive at once", format_count(finding.most_blocks)) : "";
}

}  // namespace

std::string finding_head(const Finding& finding, const ReportView& view) {
  const std::string cost = bytes(view, finding.cost_bytes);
  switch (finding.kind) {
    case FindingKind::kGrowth: return fmt::format("grew by {} in {}", cost, format_duration(finding.over_ns));
    case FindingKind::kNeverFreed: return fmt::format("{} in {} never freed", cost, blocks(finding.cost_blocks));
    case FindingKind::kCopies:
      return fmt::format("{} {} while growing", cost, finding.is_estimate ? "copied" : "moved");
    case FindingKind::kTwins: return fmt::format("{} held twice", cost);
    case FindingKind::kWholeFile: return fmt::format("up to {} while a whole file was read", cost);
    case FindingKind::kChurn:
      return fmt::format("{} of {}, one after another", blocks(finding.cost_blocks), bytes(view, finding.each_bytes));
    case FindingKind::kStorm:
      return fmt::format("{} of about {}", blocks(finding.cost_blocks), bytes(view, finding.each_bytes));
  }
  return "";
}

std::string finding_detail(const Profile& profile, const Finding& finding, const FrameNames& names,
                           const ReportView& view) {
  switch (finding.kind) {
    case FindingKind::kGrowth:
      return fmt::format("it held more in every quarter of the run, by {} a second; {} at its largest",
                         bytes(view, per_second(finding.cost_bytes, finding.over_ns)), blocks(finding.cost_blocks));
    case FindingKind::kNeverFreed:
      return fmt::format("{} each, allocated over {} up to the end of the run", bytes(view, finding.each_bytes),
                         format_duration(finding.over_ns));
    case FindingKind::kCopies:
      return finding.is_estimate
                 ? fmt::format(
                       "grown in {} steps, each of which copies what was there: half of what it "
                       "allocated, reckoned and not counted",
                       format_count(finding.cost_blocks))
                 : fmt::format(
                       "realloc, called {} times, gave other addresses to so much; blocks from 128 KiB on it "
                       "may move without copying",
                       format_count(finding.cost_blocks));
    case FindingKind::kTwins: return twin_text(finding, names);
    case FindingKind::kWholeFile:
      return "read to its end by a function that does just that; this is the most it held at once";
    case FindingKind::kChurn:
      return fmt::format("{} in all{}", bytes(view, finding.cost_bytes), alive_text(profile, finding));
    case FindingKind::kStorm:
      return fmt::format(
          "{} in all; {} of them freed before their thread allocated again{}", bytes(view, finding.cost_bytes),
          format_percent_rounded({finding.temporary_blocks, finding.cost_blocks}), alive_text(profile, finding));
  }
  return "";
}

std::string finding_remedy(FindingKind kind) {
  switch (kind) {
    case FindingKind::kGrowth:
      return "give it a limit and evict, or drop entries when they are done with; data that is loaded for good may "
             "grow";
    case FindingKind::kNeverFreed: return "free them after their last use, or give them an owner (std::unique_ptr)";
    case FindingKind::kCopies: return "tell the size first (reserve), or grow by a factor in place of a step";
    case FindingKind::kTwins: return "move it, pass it by reference or share it; or free the original first";
    case FindingKind::kWholeFile: return "read it in pieces or by line, or map it (mmap)";
    case FindingKind::kChurn: return "keep one block as a workspace and use it again";
    case FindingKind::kStorm:
      return "hold values in one array, or take them from an arena or pool (std::pmr); reuse temporary strings";
  }
  return "";
}

std::string share_text(const Profile& profile, const Finding& finding) {
  const char* peak = profile.merged.empty() ? "the peak" : "the sum of the peaks";
  const char* whole = finding.share_of == ShareOf::kPeak         ? peak
                      : finding.share_of == ShareOf::kTotalBytes ? "all bytes"
                                                                 : "all allocations";
  return fmt::format("{} of {}", format_percent(finding.share), whole);
}

std::string unasked_text(const Profile& profile, const Unasked& unasked) {
  if (unasked.kind == FindingKind::kNeverFreed) return "never-freed: the program did not come to its end";
  if (!unasked.devices.empty())
    return fmt::format("growth on {}: only what the host's sites hold is looked at over time",
                       escape_controls(unasked.devices));
  if (!profile.merged.empty()) return "growth: these are several runs";
  if (profile.run.duration_ns < 1'000'000'000) return "growth: the run is shorter than 1 s";
  return "growth: the file does not say what sites held when";
}

std::vector<Finding> shown_findings(const Profile& profile, const ReportView& view, const PlaceTree& tree) {
  std::vector<Finding> findings = find_findings(profile, tree);
  const auto is_hidden = [&](const Finding& finding) {
    return !view.device.empty() && profile.devices[finding.device].name != view.device;
  };
  findings.erase(std::remove_if(findings.begin(), findings.end(), is_hidden), findings.end());
  return findings;
}

}  // namespace heapprof::cli
