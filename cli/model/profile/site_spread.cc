// cli/model/profile/site_spread.cc: numbers of each process for each site would grow with the number of processes. A
// minimum, a maximum and the process with the maximum do not grow, and they stay exact when sums are merged.
//
// The numbers bound each other: if n processes have the site, its sum is at least the largest plus n - 1 times the
// smallest, and at most the smallest plus n - 1 times the largest. A forged file that breaks this is refused.
#include "cli/model/profile/site_spread.h"

#include "cli/base/saturating.h"
#include "cli/model/profile/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace heapprof::cli {
namespace {

constexpr size_t kMostBadSites = 5;

void add_number(NumberSpread* into, const NumberSpread& from) {
  into->min = std::min(into->min, from.min);
  const bool is_later = from.max < into->max || (from.max == into->max && from.max_input > into->max_input);
  if (is_later) return;
  into->max = from.max;
  into->max_input = from.max_input;
}

// The violation in one site's numbers; empty if there is none. `parts` are those of the device, by input.
std::string violation_of(const Site& site, const std::vector<const MergedPart*>& parts) {
  const SiteSpread& spread = site.spread[0];
  if (spread.inputs == 0 || spread.inputs > parts.size())
    return fmt::format("{} of {} inputs have it", spread.inputs, parts.size());
  const uint64_t others = spread.inputs - 1;
  for (size_t i = 0; i < kSpreadFields; ++i) {
    const NumberSpread& number = spread.of[i];
    const SpreadField& field = spread_fields()[i];
    const uint64_t sum = site.numbers.*field.number;
    if (number.min > number.max)
      return fmt::format("{}: the smallest is {}, the largest {}", field.name, number.min, number.max);
    const MergedPart* const part = number.max_input < parts.size() ? parts[number.max_input] : nullptr;
    if (part == nullptr)
      return fmt::format("{}: input {}, which has the largest, is not on the device", field.name, number.max_input);
    const uint64_t whole = i == 0 ? part->peak_bytes : i == 1 ? part->leaked_bytes : part->total_bytes;
    if (number.max > whole)
      return fmt::format("{}: input {} has {} there, and {} on the whole device", field.name, number.max_input,
                         number.max, whole);
    const uint64_t least = add_saturating(number.max, multiply_saturating(others, number.min));
    const uint64_t most = add_saturating(number.min, multiply_saturating(others, number.max));
    if (others == 0 && number.min != number.max) return fmt::format("{}: one input has two numbers", field.name);
    if (sum < least || sum > most)
      return fmt::format("{}: {} inputs have {} to {} each, and {} in all", field.name, spread.inputs, number.min,
                         number.max, sum);
  }
  return "";
}

}  // namespace

const std::array<SpreadField, kSpreadFields>& spread_fields() {
  static constexpr std::array<SpreadField, kSpreadFields> kFields = {{{&SiteNumbers::peak_bytes, "peak"},
                                                                      {&SiteNumbers::leaked_bytes, "leaked"},
                                                                      {&SiteNumbers::total_bytes, "total"}}};
  return kFields;
}

SiteSpread spread_of_one(const SiteNumbers& numbers, uint32_t input) {
  SiteSpread spread;
  spread.inputs = 1;
  for (size_t i = 0; i < kSpreadFields; ++i) {
    const uint64_t value = numbers.*spread_fields()[i].number;
    spread.of[i] = {value, value, input};
  }
  return spread;
}

void add_spread(std::vector<SiteSpread>* into, const std::vector<SiteSpread>& from) {
  if (into->empty() || from.empty()) return into->clear();
  SiteSpread& sum = into->front();
  sum.inputs += from.front().inputs;
  for (size_t i = 0; i < kSpreadFields; ++i) add_number(&sum.of[i], from.front().of[i]);
}

std::vector<std::string> find_input_violations(const Profile& profile) {
  std::vector<std::string> violations;
  const auto violate = [&violations](std::string text) {
    if (violations.size() < kMostBadSites) violations.push_back(std::move(text));
  };
  const Job& own = profile.run.job;
  if (own.has_rank() && (*own.rank >= kMostRanks || (own.ranks && *own.rank >= *own.ranks)))
    violate(fmt::format("the process is rank {} of {}", *own.rank, own.ranks.value_or(kMostRanks)));
  uint32_t next = 0;  // number that the next new input must have
  std::unordered_set<std::string> devices;
  for (const MergedPart& part : profile.merged) {
    if (part.input == next) {
      ++next;
      devices.clear();
    } else if (part.input + 1 != next) {
      violate(fmt::format("input {} comes behind input {}", part.input, int64_t{next} - 1));
      return violations;
    }
    if (!devices.insert(part.device).second) violate(fmt::format("input {} has {} twice", part.input, part.device));
    if (part.job.has_rank() && (*part.job.rank >= kMostRanks || (part.job.ranks && *part.job.rank >= *part.job.ranks)))
      violate(
          fmt::format("input {} is rank {} of {}", part.input, *part.job.rank, part.job.ranks.value_or(kMostRanks)));
    uint64_t sum = 0;
    uint64_t before = UINT64_MAX;
    for (const PartRow& row : part.rows) {
      if (row.peak_bytes > before) violate(fmt::format("the places of input {} are not in order", part.input));
      before = row.peak_bytes;
      sum = add_saturating(sum, row.peak_bytes);
    }
    if (part.rows.size() > kMostPartRows) violate(fmt::format("input {} has {} places", part.input, part.rows.size()));
    if (sum > part.peak_bytes)
      violate(fmt::format("the places of input {} have {} of a peak of {}", part.input, sum, part.peak_bytes));
  }
  return violations;
}

std::vector<std::string> find_spread_violations(const Profile& profile, const Device& device) {
  std::vector<std::string> violations;
  std::vector<const MergedPart*> parts(profile.merged.empty() ? 0 : profile.merged.back().input + size_t{1});
  for (const MergedPart& part : profile.merged) {
    if (part.device == device.name && part.input < parts.size()) parts[part.input] = &part;
  }
  for (size_t i = 0; i < device.sites.size() && violations.size() < kMostBadSites; ++i) {
    const Site& site = device.sites[i];
    if (site.spread.empty()) continue;
    const std::string violation =
        profile.merged.empty() ? "it differs between inputs of a profile that is no sum" : violation_of(site, parts);
    if (!violation.empty()) violations.push_back(fmt::format("{} site {}: {}", device.name, i, violation));
  }
  return violations;
}

}  // namespace heapprof::cli
