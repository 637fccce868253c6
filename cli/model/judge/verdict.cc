// cli/model/judge/verdict.cc: measuring is separate from judging, so that each number is judged by its own median over
// the runs.
#include "cli/model/judge/verdict.h"

#include "cli/base/problems.h"
#include "cli/model/analysis/frame_pattern.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/model/compare/peak_spread.h"
#include "cli/model/judge/scope_numbers.h"
#include "cli/model/profile/find_device.h"
#include "cli/model/profile/program_name.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <map>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;  // products of two integers

PlaceNumbers sum_below(const Device& device, const std::vector<bool>& stacks) {
  PlaceNumbers sum;
  for (const Site& site : device.sites) {
    if (stacks[site.node]) sum.add(site);
  }
  return sum;
}

// The peak that is judged. Peaks of processes do not add up, so for a merged profile it is the largest peak of a
// process.
uint64_t device_peak(const Profile& profile, const Device& device) {
  return profile.merged.empty() ? device.totals.peak_bytes : find_peak_spread(profile, device.name).largest_bytes;
}

uint64_t in_units(const PlaceNumbers& numbers, const Subject& subject) {
  const uint64_t value = numbers.metric(subject.metric);
  if (!subject.is_share) return value;
  if (numbers.total_blocks == 0) return 0;
  // Rounded up, so that a single block too many exceeds the limit.
  const auto wide = static_cast<Wide>(value) * kWholeShare + numbers.total_blocks - 1;
  return static_cast<uint64_t>(wide / numbers.total_blocks);
}

bool is_more_than_share(uint64_t value, uint64_t share, uint64_t whole) {
  return static_cast<Wide>(value) * kWholeShare > static_cast<Wide>(whole) * share;
}

bool has_failed(const RunEnd& end) {
  return end.kind == EndKind::kSignaled || (end.kind == EndKind::kExited && end.status != 0);
}

bool is_unfinished(EndKind kind) {
  return kind == EndKind::kExec || kind == EndKind::kDetached || kind == EndKind::kRunning;
}

}  // namespace

bool Verdict::failed() const { return count(Outcome::kFail) > 0; }

size_t Verdict::count(Outcome outcome) const {
  return static_cast<size_t>(
      std::count_if(judged.begin(), judged.end(), [&](const Judged& line) { return line.outcome == outcome; }));
}

std::string free_name(const std::vector<Verdict>& taken, const std::string& name) {
  std::string free = name;
  const auto is_taken = [&](const Verdict& other) { return other.name == free; };
  for (size_t copy = 2; std::any_of(taken.begin(), taken.end(), is_taken); ++copy)
    free = fmt::format("{} {}", name, copy);
  return free;
}

RunState find_run_state(const Profile& profile) {
  RunState state;
  state.end = profile.run.end;
  if (profile.dialect != Dialect::kHeapprof) return state;
  const auto incomplete = [&](std::string reason) {
    if (state.trouble == Trouble::kNone) state.reason = std::move(reason);
    state.trouble = Trouble::kIncomplete;
    state.is_whole = false;
  };
  const Counters& counters = profile.run.counters;
  if (counters.lost > 0) incomplete(fmt::format("events lost: {}", counters.lost));
  if (counters.corrupt_records > 0) incomplete(fmt::format("corrupt records: {}", counters.corrupt_records));
  if (!profile.run.complete) incomplete(profile.run.incomplete_reason);
  if (profile.merged.empty() && is_unfinished(profile.run.end.kind)) {
    incomplete(profile.run.end.kind == EndKind::kExec ? "the process went on as another program"
                                                      : "the program had not ended");
  }
  for (const MergedPart& part : profile.merged) {
    if (!part.complete || is_unfinished(part.end.kind)) incomplete(fmt::format("{} is incomplete", part.file));
  }
  if (!profile.merged.empty()) state.end = profile.merged[0].end;
  for (const MergedPart& part : profile.merged) {
    const bool is_worse = has_failed(part.end) || part.end.kind == EndKind::kUnknown;
    if (is_worse && !has_failed(state.end)) state.end = part.end;
  }
  if (has_failed(state.end)) state.trouble = Trouble::kProgramFailed;
  return state;
}

RunState find_started_state(const Profile& profile) {
  constexpr std::array<int, 4> kAsked = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};  // SIGKILL may be from the OOM killer
  RunState state = find_run_state(profile);
  const bool was_asked =
      state.end.kind == EndKind::kExited || std::find(kAsked.begin(), kAsked.end(), state.end.status) != kAsked.end();
  if (state.trouble == Trouble::kProgramFailed && was_asked)
    state.trouble = profile.run.complete && state.reason.empty() ? Trouble::kNone : Trouble::kIncomplete;
  return state;
}

std::vector<Subject> find_subjects(const Budget& budget, const Profile& profile, bool has_baseline) {
  std::vector<Subject> whole;
  std::vector<Subject> of_subtrees;
  for (const Limit& limit : budget.limits) {
    if (limit.subject.scope) continue;
    (limit.subject.is_whole() ? whole : of_subtrees).push_back(limit.subject);
  }
  std::vector<Subject> subjects;
  // Devices come first, in the order of the profile, then subtrees, in the order of the budget; each metric by metric.
  for (const Device& device : profile.devices) {
    for (const Metric metric : kMetrics) {
      for (const Subject& subject : whole) {
        if (subject.device == device.name && subject.metric == metric) subjects.push_back(subject);
      }
      const Subject grows{metric, device.name, false, Subject::kWhole};
      // Not compared: reserved addresses, which have no memory; registered memory, which is counted at another device;
      // and leaked pages and Python objects, which programs usually leave to the kernel or interpreter at exit.
      const bool is_left = is_mapped_device(device.name) || device.name == kPythonDevice;
      if (is_reserved_device(device.name) || device.name == "registered" || (is_left && metric == Metric::kLeaked))
        continue;
      if (has_baseline && metric_field_of(metric).has_baseline && has_metric(profile, metric) &&
          std::find(subjects.begin(), subjects.end(), grows) == subjects.end())
        subjects.push_back(grows);
    }
  }
  const auto rank = [](Metric metric) { return metric_field_of(metric).rank; };
  std::erase_if(of_subtrees, [&](const Subject& subject) { return find_device(profile, subject.device) == nullptr; });
  std::stable_sort(of_subtrees.begin(), of_subtrees.end(), [&](const Subject& a, const Subject& b) {
    return std::pair(a.subtree, rank(a.metric)) < std::pair(b.subtree, rank(b.metric));
  });
  subjects.insert(subjects.end(), of_subtrees.begin(), of_subtrees.end());
  return subjects;
}

Result<Done> check_baseline(const Profile& profile, const Profile& baseline, const std::string& file) {
  if (profile.dialect != baseline.dialect || profile.merged.empty() != baseline.merged.empty())
    return baseline_counts_otherwise(file);
  const std::string program = executable_name(profile.run);
  if (const std::string other = executable_name(baseline.run); other != program)
    return baseline_of_other_program(file, other, program);
  const RunState state = find_run_state(baseline);
  if (state.trouble == Trouble::kIncomplete) return profile_not_whole(file, state.reason);
  if (state.trouble == Trouble::kProgramFailed) return baseline_of_failed_program(file);
  return Done{};
}

std::vector<uint64_t> measure(const Budget& budget, const std::vector<Subject>& subjects, const Profile& profile) {
  const FrameMatcher frames(profile);
  std::optional<ScopeNumbers> scopes;
  std::vector<bool> stacks;  // of the last subtree; the subjects of a subtree are adjacent
  size_t subtree = Subject::kWhole;
  std::vector<uint64_t> values;
  for (const Subject& subject : subjects) {
    if (subject.scope) {
      if (!scopes) scopes.emplace(profile);
      values.push_back(scopes->value(subject));
      continue;
    }
    if (subject.subtree != Subject::kWhole && subject.subtree != subtree)
      stacks = frames.stacks_with(budget.subtrees[subject.subtree].frames);
    subtree = subject.subtree;
    const Device* const device = find_device(profile, subject.device);
    if (device == nullptr) {
      values.push_back(0);
    } else if (subtree == Subject::kWhole && subject.metric == Metric::kPeak) {
      values.push_back(device_peak(profile, *device));
    } else {
      values.push_back(
          in_units(subtree == Subject::kWhole ? sum_of_sites(*device) : sum_below(*device, stacks), subject));
    }
  }
  return values;
}

std::vector<DeviceNumbers> measure_devices(const std::vector<Profile>& runs) {
  std::vector<DeviceNumbers> devices;
  if (runs.empty()) return devices;
  for (const Device& named : runs[0].devices) {
    DeviceNumbers numbers;
    numbers.device = named.name;
    for (const Metric metric : kMetrics) {
      std::vector<uint64_t> values;
      for (const Profile& run : runs) values.push_back(measure({}, {{metric, named.name}}, run)[0]);
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      numbers.metrics[metric_index(metric)] = {median(values), *least, *most};
    }
    devices.push_back(numbers);
  }
  return devices;
}

void decide(Judged* line) {
  const uint64_t value = line->value;
  const auto found = [line](Reason reason, Outcome outcome) {
    line->reason = reason;
    line->outcome = outcome;
  };
  if (line->most && value > *line->most) return found(Reason::kOverLimit, Outcome::kFail);
  if (line->expect && value < line->expect->least) return found(Reason::kBelowExpected, Outcome::kFail);
  if (line->expect && value > line->expect->most) return found(Reason::kAboveExpected, Outcome::kFail);
  if (line->base && value > line->base_most) return found(Reason::kOverBaseline, Outcome::kFail);
  if (line->most && line->warn_share && is_more_than_share(value, *line->warn_share, *line->most))
    return found(Reason::kNearLimit, Outcome::kWarning);
  found(Reason::kNone, Outcome::kOk);
}

namespace {

// The value up to which a number may grow. A scope's average per run and its number of begins are the same in every run
// of an unchanged program, so they have no slack besides the share.
uint64_t most_grown(uint64_t base, const Subject& subject, const Tolerance& tolerance) {
  if (!subject.scope) return most_within(base, subject.metric, tolerance);
  const uint64_t slack = is_in_bytes(subject) ? tolerance.slack_bytes : tolerance.slack_blocks;
  return most_within(base, tolerance.share, is_of_device(subject) && !subject.scope->is_per_run ? slack : 0);
}

}  // namespace

std::vector<Judged> judge(const Budget& budget, const Evidence& evidence) {
  std::map<Subject, const Limit*> limits;
  for (const Limit& limit : budget.limits) limits[limit.subject] = &limit;
  const Tolerance tolerance = tolerance_of(budget);
  std::vector<Judged> lines;
  for (size_t i = 0; i < evidence.subjects.size(); ++i) {
    Judged line;
    line.subject = evidence.subjects[i];
    line.at = budget.at;
    line.warn_share = budget.warn_share;
    if (line.subject.scope) line.at = budget.scopes[line.subject.scope->scope].at;
    if (line.subject.subtree != Subject::kWhole) line.subtree = budget.subtrees[line.subject.subtree].name;
    std::vector<uint64_t> values;
    for (const std::vector<uint64_t>& run : evidence.runs) values.push_back(run[i]);
    line.value = median(std::move(values));
    if (const auto known = limits.find(limited_subject(line.subject)); known != limits.end()) {
      const Limit& limit = *known->second;
      line.most = limit.most;
      line.expect = limit.expect;
      line.at = limit.at;
      line.is_default = limit.is_default;
      line.text = limit.text;
    }
    const bool is_compared = !evidence.baseline.empty() && (evidence.is_compared.empty() || evidence.is_compared[i]);
    if (is_compared && (line.subject.scope || metric_field_of(line.subject.metric).has_baseline)) {
      line.base = evidence.baseline[i];
      line.base_most = most_grown(*line.base, line.subject, tolerance);
    }
    decide(&line);
    if (line.reason == Reason::kOverLimit)
      line.raised_most = most_grown(line.value, line.subject, {tolerance.share, 0, 0});
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace heapprof::cli
