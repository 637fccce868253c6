// cli/write/report/findings_words.cc: a finding is a suspicion with a number, and its words must not say more.
//
// Each sentence says what was counted and by which rule that looks like a problem. What is reckoned and not counted
// (the bytes that a growing vector copied) is said to be; what may be meant (a cache) is not called a leak.
#include "cli/write/report/findings_words.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/python/paths.h"

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

std::string lost_text(const Finding& finding, const ReportView& view) {
  return fmt::format("{} each, of the {} that the same stacks made; no pointer led to them when the program ended",
                     bytes(view, finding.each_bytes), format_count(finding.all_blocks));
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
    case FindingKind::kNeverFreed:
      return fmt::format("{} in {} {}", cost, blocks(finding.cost_blocks), finding.is_lost ? "lost" : "never freed");
    case FindingKind::kSmallNeverFreed:
      if (finding.is_lost) return fmt::format("{} in {} small blocks lost", cost, format_count(finding.cost_blocks));
      return fmt::format("{} in {} small blocks never freed", cost, format_count(finding.cost_blocks));
    case FindingKind::kStartPeak: return fmt::format("{} that only the start needed", cost);
    case FindingKind::kOldAndNew: return fmt::format("{} left behind while growing, at the peak", cost);
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

namespace {

std::string detail_of(const Profile& profile, const Finding& finding, const FrameNames& names, const ReportView& view) {
  switch (finding.kind) {
    case FindingKind::kGrowth:
      return fmt::format("it held more in every quarter of the run, by {} a second; {} at its largest",
                         bytes(view, per_second(finding.cost_bytes, finding.over_ns)), blocks(finding.cost_blocks));
    case FindingKind::kNeverFreed:
      if (finding.is_lost) return lost_text(finding, view);
      return fmt::format("{} each, allocated over {}, on into the last quarter of the run",
                         bytes(view, finding.each_bytes), format_duration(finding.over_ns));
    case FindingKind::kSmallNeverFreed:
      if (finding.is_lost) return lost_text(finding, view);
      return fmt::format(
          "{} each, {} of the {} that the same stacks made, over {}, on into the last quarter of the run; nobody has "
          "looked whether they can still be reached",
          bytes(view, finding.each_bytes), format_percent_rounded({finding.cost_blocks, finding.all_blocks}),
          format_count(finding.all_blocks), format_duration(finding.over_ns));
    case FindingKind::kStartPeak:
      return fmt::format(
          "the peak is at {}, and {} of it is this place's; from {} to the end the whole never had more "
          "than {}",
          format_duration(profile.devices[finding.device].totals.peak_ns), bytes(view, finding.at_peak_bytes),
          format_duration(finding.from_ns), bytes(view, finding.later_bytes));
    case FindingKind::kOldAndNew:
      return fmt::format(
          "a container was doubling when the peak was reached: {} beside the new block of twice the size",
          finding.cost_blocks == 1 ? "its old block was still there," : "old blocks were still there,");
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

}  // namespace

std::string finding_detail(const Profile& profile, const Finding& finding, const FrameNames& names,
                           const ReportView& view) {
  const std::string detail = detail_of(profile, finding, names, view);
  if (finding.memory_name.empty()) return detail;
  return fmt::format("{}; the program calls all of its blocks \"{}\"", detail, finding.memory_name);
}

namespace {

bool is_in_python(const Profile& profile, const Finding& finding) {
  return finding.has_frame && is_of_python(profile, profile.frames[finding.frame]);
}

// What helps where a line of Python asked for the memory.
std::string python_remedy(FindingKind kind) {
  switch (kind) {
    case FindingKind::kGrowth:
      return "give it a limit (lru_cache(maxsize=…), deque(maxlen=…)), or drop entries when they are done with; data "
             "that is loaded for good may grow";
    case FindingKind::kNeverFreed:
    case FindingKind::kSmallNeverFreed:
      return "look for what still refers to them when the program ends: a cache, a global, a cycle with a __del__; or "
             "an "
             "extension that forgets to give them back";
    case FindingKind::kStartPeak:
      return "read and convert in pieces, and del what only the start needs; a limit on memory has to be as high as "
             "this peak";
    case FindingKind::kOldAndNew:
    case FindingKind::kCopies:
      return "make it at its full size, from an iterator or as an array, in place of appending";
    case FindingKind::kTwins: return "work in place (out=, +=), on a view, or del the original first";
    case FindingKind::kWholeFile: return "read it in pieces or by line, or map it (mmap, numpy.memmap)";
    case FindingKind::kChurn: return "keep one buffer and fill it again (out=, readinto)";
    case FindingKind::kStorm: return "hold many small values in one array, or make them in one call for all";
  }
  return "";
}

}  // namespace

std::string finding_remedy(const Profile& profile, const Finding& finding) {
  if (is_in_python(profile, finding)) return python_remedy(finding.kind);
  switch (finding.kind) {
    case FindingKind::kGrowth:
      return "give it a limit and evict, or drop entries when they are done with; data that is loaded for good may "
             "grow";
    case FindingKind::kNeverFreed: return "free them after their last use, or give them an owner (std::unique_ptr)";
    case FindingKind::kSmallNeverFreed:
      return "free them after their last use, or give them an owner (std::unique_ptr); a table that is kept on purpose "
             "looks like this, too";
    case FindingKind::kStartPeak:
      return "read and convert in pieces, and free what only the start needs as it goes; a limit on memory has to be "
             "as "
             "high as this peak";
    case FindingKind::kOldAndNew: return "tell the size first (reserve): then nothing is left behind";
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

std::string finding_sentence(const Profile& profile, const Finding& finding, const FrameNames& names,
                             size_t word_columns) {
  constexpr size_t kMost = 48;
  constexpr size_t kSigns = 3;  // "(" before, ")," behind
  const size_t room = std::min(kMost, std::max<size_t>(word_columns, 12) - kSigns);
  const std::string cost = format_bytes(finding.cost_bytes);
  std::string at = "code without a stack";
  if (finding.has_frame) {
    at = shorten_middle(shorten_function(names.function(finding.frame), room), room);
    if (const std::string where = names.short_location(finding.frame); !where.empty())
      at += " (" + shorten_middle(shorten_path(where, room), room) + ")";
  }
  if (finding.device != 0) at += " on " + shorten_middle(escape_controls(profile.devices[finding.device].name), room);
  const std::string count = format_count(finding.cost_blocks);
  switch (finding.kind) {
    case FindingKind::kGrowth:
      return fmt::format(
          "{} held more and more, by {} in {}: give it a limit, or drop what is done with, if it is not data loaded "
          "for "
          "good",
          at, cost, format_duration(finding.over_ns));
    case FindingKind::kNeverFreed:
      if (finding.is_lost)
        return fmt::format(
            "{} in {} from {} are lost, nothing that the program can reach leads to them: free them after their last "
            "use",
            cost, format_counted(finding.cost_blocks, "large block"), at);
      return fmt::format("{} in {} from {} were never freed: free them after their last use, unless kept on purpose",
                         cost, format_counted(finding.cost_blocks, "large block"), at);
    case FindingKind::kSmallNeverFreed:
      if (finding.is_lost)
        return fmt::format(
            "{} in {} from {} are lost, nothing that the program can reach leads to them: free them after their last "
            "use",
            cost, format_counted(finding.cost_blocks, "small block"), at);
      return fmt::format("{} in {} from {} were never freed: free them after their last use, unless kept on purpose",
                         cost, format_counted(finding.cost_blocks, "small block"), at);
    case FindingKind::kStartPeak:
      return fmt::format("{} from {} were needed at the start only, and make the peak: free them as the start goes on",
                         cost, at);
    case FindingKind::kCopies:
      if (is_in_python(profile, finding))
        return fmt::format("{} were moved while something of {} grew: make it at its full size, if that is known", cost,
                           at);
      return finding.is_estimate
                 ? fmt::format("about {} were copied while a container of {} grew: tell its size first (reserve)", cost,
                               at)
                 : fmt::format(
                       "{} were moved while a block of {} grew (realloc): tell its size first, or grow by a "
                       "factor",
                       cost, at);
    case FindingKind::kOldAndNew:
      return fmt::format(
          "{} of the peak, from {}, is the old block of a container beside the new one: tell its size "
          "first (reserve)",
          cost, at);
    case FindingKind::kTwins:
      return fmt::format("{} from {} is a copy, beside what looks like its original: {}", cost, at,
                         is_in_python(profile, finding) ? "work in place, or drop the original first"
                                                        : "move it, or pass it by reference");
    case FindingKind::kWholeFile:
      return fmt::format("up to {} from {} was a whole file in memory: read it in pieces, or map it", cost, at);
    case FindingKind::kChurn:
      return fmt::format("{} from {} came and went in {} blocks of one size: keep one and use it again", cost, at,
                         count);
    case FindingKind::kStorm:
      if (finding.temporary_blocks >= finding.cost_blocks / 10 * 9)
        return fmt::format("{} from {} in {} tiny blocks, freed at once: use one buffer or string again", cost, at,
                           count);
      return fmt::format("{} from {} in {} tiny blocks: hold the values in one array{}", cost, at, count,
                         is_in_python(profile, finding) ? "" : ", or take them from a pool");
  }
  return "";
}

std::string looked_for(FindingKind kind) {
  switch (kind) {
    case FindingKind::kGrowth: return "places that hold more and more";
    case FindingKind::kNeverFreed: return "large blocks that are never freed";
    case FindingKind::kSmallNeverFreed: return "small blocks that are never freed";
    case FindingKind::kStartPeak: return "memory that only the start needs";
    case FindingKind::kCopies: return "containers that copy while they grow";
    case FindingKind::kOldAndNew: return "old blocks beside new ones at the peak";
    case FindingKind::kTwins: return "values that are held twice";
    case FindingKind::kWholeFile: return "whole files in memory";
    case FindingKind::kChurn: return "blocks of one size, again and again";
    case FindingKind::kStorm: return "very many tiny blocks";
  }
  return "";
}

std::string why_unasked(const Profile& profile, const Unasked& unasked) {
  switch (unasked.lack) {
    case Lack::kOneRun: return "these are several runs, added up";
    case Lack::kTime:
      return fmt::format("the run took {}, and at least 1 s is needed to see it",
                         format_duration(profile.run.duration_ns));
    case Lack::kMoments: return "the file does not say what places held when";
    case Lack::kHostMoments:
      return fmt::format("not on {}: what places hold over time is known of the host only",
                         escape_controls(unasked.devices));
    case Lack::kEnd: return "the program did not come to its own end, where it might have freed them";
    case Lack::kNames: return "told by the names of functions, which a third of the peak or more has not";
  }
  return "";
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
