// cli/model/verdict.cc: measuring is apart from judging, so that the median of runs is taken number by number.
#include "cli/model/verdict.h"

#include "cli/base/problems.h"
#include "cli/model/frame_pattern.h"
#include "cli/model/merge_profiles.h"
#include "cli/model/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;  // products of two integers

constexpr uint64_t kDefaultTolerance = 100;  // 1 %
constexpr uint64_t kDefaultSlackBytes = 4096;

const Device* find_device(const Profile& profile, const std::string& name) {
  for (const Device& device : profile.devices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

std::string device_names(const Profile& profile) {
  std::string names;
  for (const Device& device : profile.devices) names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

PlaceNumbers sum_below(const Device& device, const std::vector<bool>& stacks) {
  PlaceNumbers sum;
  for (const Site& site : device.sites) {
    if (stacks[site.node]) sum.add(site);
  }
  return sum;
}

// Peaks of processes do not add: of a merged profile it is the largest one's.
uint64_t device_peak(const Profile& profile, const Device& device) {
  return profile.merged.empty() ? device.totals.peak_bytes : find_peak_spread(profile, device.name).largest_bytes;
}

uint64_t in_units(const PlaceNumbers& numbers, const Subject& subject) {
  const uint64_t value = numbers.metric(subject.metric);
  if (!subject.is_share) return value;
  if (numbers.total_blocks == 0) return 0;
  // Rounded up: what is over a limit by a single block is over it.
  const auto wide = static_cast<Wide>(value) * kWholeShare + numbers.total_blocks - 1;
  return static_cast<uint64_t>(wide / numbers.total_blocks);
}

bool is_more_than_share(uint64_t value, uint64_t share, uint64_t whole) {
  return static_cast<Wide>(value) * kWholeShare > static_cast<Wide>(whole) * share;
}

uint64_t grown(uint64_t base, const Subject& subject, const Budget& budget) {
  const uint64_t tolerance = budget.tolerance_share.value_or(kDefaultTolerance);
  const auto share = static_cast<Wide>(base) * tolerance / kWholeShare;
  const uint64_t slack = is_in_bytes(subject.metric) ? budget.slack_bytes.value_or(kDefaultSlackBytes) : 0;
  const auto most = static_cast<Wide>(base) + std::max<Wide>(share, slack);
  return most > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(most);
}

void decide(const Budget& budget, Judged* line) {
  const uint64_t value = line->value;
  if (line->most && value > *line->most) {
    line->reason = Reason::kOverLimit;
  } else if (line->expect && value < line->expect->least) {
    line->reason = Reason::kBelowExpected;
  } else if (line->expect && value > line->expect->most) {
    line->reason = Reason::kAboveExpected;
  } else if (line->base && value > line->base_most) {
    line->reason = Reason::kOverBaseline;
  } else if (line->most && budget.warn_share && is_more_than_share(value, *budget.warn_share, *line->most)) {
    line->reason = Reason::kNearLimit;
    line->outcome = Outcome::kWarning;
    return;
  }
  line->outcome = line->reason == Reason::kNone ? Outcome::kOk : Outcome::kFail;
}

std::string program_of(const Profile& profile) {
  const RunInfo& run = profile.run;
  const std::string path = !run.executable.empty() ? run.executable : run.command.empty() ? "" : run.command[0];
  return path.substr(path.rfind('/') + 1);
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

std::vector<Subject> find_subjects(const Budget& budget, const Profile& profile, bool has_baseline) {
  std::vector<Subject> subjects;
  const auto add = [&](const Subject& subject) {
    if (std::find(subjects.begin(), subjects.end(), subject) == subjects.end()) subjects.push_back(subject);
  };
  // Device by device, as they stand in the profile; then sites, as they stand in the budget; metric by metric.
  for (const Device& device : profile.devices) {
    for (const Metric metric : kMetrics) {
      for (const Limit& limit : budget.limits) {
        const Subject& subject = limit.subject;
        if (subject.site == Subject::kWhole && subject.device == device.name && subject.metric == metric) add(subject);
      }
      if (has_baseline && metric != Metric::kTemporary && has_metric(profile, metric))
        add({metric, device.name, false, Subject::kWhole});
    }
  }
  for (size_t site = 0; site < budget.sites.size(); ++site) {
    for (const Metric metric : kMetrics) {
      for (const Limit& limit : budget.limits) {
        const Subject& subject = limit.subject;
        if (subject.site == site && subject.metric == metric && find_device(profile, subject.device) != nullptr)
          add(subject);
      }
    }
  }
  return subjects;
}

Result<Done> check_budget(const Budget& budget, const Profile& profile, const std::string& file,
                          std::vector<Problem>* warnings) {
  const FrameMatcher frames(profile);
  std::vector<bool> expects_some(budget.sites.size());
  for (const Limit& limit : budget.limits) {
    const Subject& subject = limit.subject;
    const Device* const device = find_device(profile, subject.device);
    if (device == nullptr && limit.is_default) {
      warnings->push_back(limit_not_needed(limit.at, subject.device, device_names(profile)));
    } else if (device == nullptr) {
      return limit_for_unknown_device(limit.at, subject.device, device_names(profile));
    }
    if (!has_metric(profile, subject.metric))
      return metric_not_in_profile(file, std::string(metric_word(subject.metric)));
    if (subject.site == Subject::kWhole) continue;
    if (!profile.merged.empty() && subject.metric == Metric::kPeak)
      return limit_not_measured(limit.at, file, "the sites' peaks of a merged profile are of different moments");
    // A limit of nothing at all is kept best by what never appears.
    if (limit.expect || limit.most.value_or(1) > 0) expects_some[subject.site] = true;
  }
  for (size_t i = 0; i < budget.sites.size(); ++i) {
    const std::vector<bool> stacks = frames.stacks_with(budget.sites[i].frames);
    const bool is_there = std::any_of(stacks.begin(), stacks.end(), [](bool fits) { return fits; });
    if (expects_some[i] && !is_there)
      warnings->push_back(site_matches_nothing(budget.sites[i].at, budget.sites[i].name));
  }
  return Done{};
}

Result<Done> check_baseline(const Profile& profile, const Profile& baseline, const std::string& file) {
  if (profile.dialect != baseline.dialect || profile.merged.empty() != baseline.merged.empty())
    return baseline_counts_otherwise(file);
  const std::string program = program_of(profile);
  if (const std::string other = program_of(baseline); other != program)
    return baseline_of_other_program(file, other, program);
  const RunState state = find_run_state(baseline);
  if (state.trouble == Trouble::kIncomplete) return profile_not_whole(file, state.reason);
  if (state.trouble == Trouble::kProgramFailed) return baseline_of_failed_program(file);
  return Done{};
}

std::vector<uint64_t> measure(const Budget& budget, const std::vector<Subject>& subjects, const Profile& profile) {
  const FrameMatcher frames(profile);
  std::vector<std::vector<bool>> stacks;
  for (const SiteBudget& site : budget.sites) stacks.push_back(frames.stacks_with(site.frames));
  std::vector<uint64_t> values;
  for (const Subject& subject : subjects) {
    const Device* const device = find_device(profile, subject.device);
    if (device == nullptr) {
      values.push_back(0);
    } else if (subject.site == Subject::kWhole && subject.metric == Metric::kPeak) {
      values.push_back(device_peak(profile, *device));
    } else {
      values.push_back(in_units(
          subject.site == Subject::kWhole ? sum_of_sites(*device) : sum_below(*device, stacks[subject.site]), subject));
    }
  }
  return values;
}

uint64_t median(std::vector<uint64_t> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const uint64_t upper = values[half];
  return values.size() % 2 == 1 ? upper : values[half - 1] + (upper - values[half - 1]) / 2;
}

std::vector<DeviceNumbers> measure_devices(const std::vector<Profile>& runs) {
  std::vector<DeviceNumbers> devices;
  if (runs.empty()) return devices;
  for (const Device& named : runs[0].devices) {
    DeviceNumbers numbers;
    numbers.device = named.name;
    const auto spread = [&](Metric metric, Spread* target) {
      std::vector<uint64_t> values;
      for (const Profile& run : runs) values.push_back(measure({}, {{metric, named.name}}, run)[0]);
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      *target = {median(values), *least, *most};
    };
    spread(Metric::kPeak, &numbers.peak);
    spread(Metric::kTotal, &numbers.total);
    spread(Metric::kLeaked, &numbers.leaked);
    spread(Metric::kAllocations, &numbers.allocations);
    spread(Metric::kTemporary, &numbers.temporary);
    devices.push_back(numbers);
  }
  return devices;
}

std::vector<Judged> judge(const Budget& budget, const Evidence& evidence) {
  std::vector<Judged> lines;
  Budget without_slack = budget;
  without_slack.slack_bytes = 0;
  for (size_t i = 0; i < evidence.subjects.size(); ++i) {
    Judged line;
    line.subject = evidence.subjects[i];
    line.at = budget.at;
    if (line.subject.site != Subject::kWhole) line.site = budget.sites[line.subject.site].name;
    std::vector<uint64_t> values;
    for (const std::vector<uint64_t>& run : evidence.runs) values.push_back(run[i]);
    line.value = median(std::move(values));
    for (const Limit& limit : budget.limits) {
      if (limit.subject != line.subject) continue;
      line.most = limit.most;
      line.expect = limit.expect;
      line.at = limit.at;
      line.is_default = limit.is_default;
      line.text = limit.text;
    }
    const bool is_compared = !evidence.baseline.empty() && (evidence.is_compared.empty() || evidence.is_compared[i]);
    if (is_compared && line.subject.metric != Metric::kTemporary) {
      line.base = evidence.baseline[i];
      line.base_most = grown(*line.base, line.subject, budget);
    }
    decide(budget, &line);
    if (line.reason == Reason::kOverLimit) line.raised_most = grown(line.value, line.subject, without_slack);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace heapprof::cli
