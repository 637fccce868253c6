// cli/write/report/conclusion.cc: a reader wants to know the kind of problem, so the sentence is that of the first
// finding of `report --findings`. A finding that costs time and no memory is shown if it costs a good part of the run's
// time.
#include "cli/write/report/conclusion.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/findings.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/analysis/sampling.h"
#include "cli/model/analysis/script_frames.h"
#include "cli/model/profile/find_device.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/text/place_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kFront = 7;

// The device with the most memory, without reserved addresses and devices that are parts of others.
const Device* largest_device(const Profile& profile) {
  const Device* largest = nullptr;
  for (const Device& device : profile.devices) {
    if (is_reserved_device(device.name) || is_inner_device(device.name)) continue;
    if (largest == nullptr || device.totals.peak_bytes > largest->totals.peak_bytes) largest = &device;
  }
  return largest;
}

// At least how many of a place's bytes at the peak were in no page that was seen resident. 0: fewer than half of them,
// or unknown. It is unknown for short-lived blocks, which may have been resident between two samples.
uint64_t unseen_part(const Device& device, const SiteNumbers& numbers) {
  constexpr uint64_t kLeastBytes = 16 << 20;
  constexpr uint64_t kLeastLifeNs = 50'000'000;  // several samples fall in it
  const uint64_t bytes = numbers.peak_bytes;
  if (numbers.total_blocks == 0 || numbers.lifetime_ns / numbers.total_blocks < kLeastLifeNs) return 0;
  const uint64_t resident_bytes = device.totals.resident_max_bytes;
  if (resident_bytes == 0 || bytes < kLeastBytes || resident_bytes > bytes / 2) return 0;
  return bytes - resident_bytes;
}

}  // namespace

Conclusion::Conclusion(const Profile& profile, const PlaceTree& tree) : profile_(profile), tree_(tree) {
  if (can_have_findings(profile)) findings_ = find_findings(profile, tree, &brief_growth_);
}

// The main part of the peak, if one place has a third of it; nothing unless that is more than twice the problem's
// bytes.
std::vector<ConclusionLine> Conclusion::most(size_t columns, const Finding* problem) const {
  constexpr uint64_t kLeastPercent = 33;
  constexpr uint64_t kLeastBytes = 8 << 20;
  const Device* const device = largest_device(profile_);
  if (device == nullptr || !profile_.merged.empty() || device->totals.peak_bytes < kLeastBytes) return {};
  const std::vector<Place> places = find_places(profile_, tree_, *device);
  const Place* most = nullptr;
  for (const Place& place : places) {
    if (!place.has_frame || is_python_mark(profile_, profile_.frames[place.frame])) continue;  // imports are expected
    if (most == nullptr || place.numbers.peak_bytes > most->numbers.peak_bytes) most = &place;
  }
  const uint64_t peak_bytes = device->totals.peak_bytes;
  if (most == nullptr || most->numbers.peak_bytes < peak_bytes / 100 * kLeastPercent) return {};
  if (problem != nullptr && problem->cost_bytes >= most->numbers.peak_bytes / 2) return {};
  const SiteNumbers& numbers = most->numbers;
  const Frame& frame = profile_.frames[most->frame];
  const bool is_of_arenas = is_arena(frame.function, frame.file);
  const std::string where = is_of_arenas ? std::string(kArenas)
                                         : place_words(profile_, FrameNames(profile_, tree_), most->frame,
                                                       static_cast<uint32_t>(device - profile_.devices.data()),
                                                       columns - std::min(columns, kFront));
  const char* const about = interval_of(profile_, *device) != 0 ? "about " : "";  // estimates of a sampled profile
  std::string sentence = fmt::format("{}{}: {}{} of the peak of {}{}, {}{}", where, caller_text(*device, *most), about,
                                     format_bytes(numbers.peak_bytes), about, format_bytes(peak_bytes), about,
                                     format_counted(numbers.peak_blocks, "block"));
  const uint64_t unseen_bytes = unseen_part(*device, numbers);
  if (unseen_bytes != 0) {
    sentence += fmt::format(", but the process had at most {} resident (sampled): {} or more were in no sample",
                            format_bytes(device->totals.resident_max_bytes), format_bytes(unseen_bytes));
  } else if (numbers.total_blocks == numbers.peak_blocks && numbers.lifetime_ns != 0) {  // else other blocks count, too
    sentence += fmt::format(", {} {}", numbers.total_blocks == 1 ? "live for" : "live for an average of",
                            format_duration(numbers.lifetime_ns / numbers.total_blocks));
  }
  const auto is_its_growth = [&](const Finding& finding) {
    return finding.kind == FindingKind::kGrowth && finding.has_frame && finding.frame == most->frame &&
           &profile_.devices[finding.device] == device;
  };
  if (std::any_of(findings_.begin(), findings_.end(), is_its_growth) ||
      std::any_of(brief_growth_.begin(), brief_growth_.end(), is_its_growth))
    sentence += "; it grew to the end of the run";
  return {{"most", sentence}};
}

// If the place has no name, the caller that asks for most of it; else empty.
std::string Conclusion::caller_text(const Device& device, const Place& place) const {
  if (!profile_.frames[place.frame].function.empty()) return "";
  const CallerChain chain = find_callers(profile_, tree_, device, place, Metric::kPeak);
  const uint32_t frame = !chain.frames.empty()   ? chain.frames[0]
                         : !chain.shares.empty() ? chain.shares[0].frame
                                                 : kNoModule;
  if (frame == kNoModule || profile_.frames[frame].function.empty()) return "";
  constexpr size_t kMost = 32;
  return " for " + shorten_function(FrameNames(profile_, tree_).function(frame), kMost);
}

ConclusionLine Conclusion::line(const char* label, const Finding& finding, size_t columns) const {
  return {label, finding_sentence(profile_, finding, FrameNames(profile_, tree_), columns - std::min(columns, kFront))};
}

std::vector<ConclusionLine> Conclusion::lines(size_t columns) const {
  if (!can_have_findings(profile_)) return {};
  const auto slow = std::find_if(findings_.begin(), findings_.end(), [this](const Finding& finding) {
    constexpr uint64_t kLeastNs = 1'000'000;
    const uint64_t part_of_run = finding.kind == FindingKind::kStorm ? 20 : 33;  // a storm is more work to fix
    return rank_of(profile_, finding) == FindingRank::kTime &&
           estimated_ns(finding) >= std::max(kLeastNs, profile_.run.duration_ns / part_of_run);
  });
  const auto is_of_memory = [this](const Finding& finding) {
    return rank_of(profile_, finding) <= FindingRank::kUntrimmed;
  };
  // A file that is read as a whole is mostly small compared to what the program makes of it, so other findings come
  // first.
  const auto is_larger = [&](const Finding& finding) {
    return is_of_memory(finding) && finding.kind != FindingKind::kWholeFile;
  };
  auto problem = std::find_if(findings_.begin(), findings_.end(), is_larger);
  std::vector<ConclusionLine> lines;
  if (problem == findings_.end()) {
    problem = std::find_if(findings_.begin(), findings_.end(), is_of_memory);
    lines = most(columns, problem == findings_.end() ? nullptr : &*problem);
  }
  const bool has_memory = problem != findings_.end() && lines.empty();
  if (has_memory) lines.push_back(line("worst", *problem, columns));
  if (slow == findings_.end()) return lines;
  // The main use of memory ("most") is no problem, so a finding that costs time comes before it.
  lines.insert(has_memory ? lines.end() : lines.begin(), line("time", *slow, columns));
  return lines;
}

namespace {

std::string joined(const std::vector<ConclusionLine>& lines, size_t columns) {
  std::string text;
  for (const auto& [label, sentence] : lines)
    text += pad_right(label, kFront) + wrapped(sentence, {kFront, kFront, columns}) + "\n";
  return text;
}

}  // namespace

std::string Conclusion::text(size_t columns) const { return joined(lines(columns), columns); }

std::string Conclusion::text_with_call(const std::string& file, size_t columns) const {
  const std::vector<ConclusionLine> all = lines(columns);
  const auto said = static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [](const ConclusionLine& line) { return line.label != "most"; }));
  const std::string text = joined(all, columns);
  if (findings_.size() == said) return text;
  const std::string count = format_count(findings_.size() - said) + (said == 0 ? " minor" : " more");
  const std::string call = count + ": heapprof report --findings";
  const bool fits = kFront + display_width(call) + 1 + display_width(file) <= columns;
  return text + (fits ? std::string(kFront, ' ') + call + " " + file : call + " \\\n    " + file) + "\n";
}

}  // namespace heapprof::cli
