// cli/write/report/report_view.cc: what all formats of a report share.
#include "cli/write/report/report_view.h"

#include "cli/base/saturating.h"

#include <algorithm>

namespace heapprof::cli {

std::vector<const SiteField*> reported_numbers(const Profile& profile) {
  std::vector<const SiteField*> fields;
  for (const SiteField& field : kSiteFields) {
    if (!field.report.empty() && has_numbers(profile, field.needs)) fields.push_back(&field);
  }
  return fields;
}

namespace {

uint64_t judged_blocks(const SiteNumbers& numbers) {
  uint64_t blocks = 0;
  for (const uint64_t kind :
       {numbers.lost_blocks, numbers.indirectly_lost_blocks, numbers.possibly_lost_blocks, numbers.reachable_blocks})
    blocks = add_saturating(blocks, kind);
  return blocks;
}

}  // namespace

std::optional<uint64_t> reported_number(const PlaceNumbers& numbers, const SiteField& field) {
  if (field.needs == SiteField::Needs::kLeaks && numbers.leaked_blocks == 0) return std::nullopt;
  if (field.needs == SiteField::Needs::kSizes && !has_sizes(numbers)) return std::nullopt;
  if (field.needs == SiteField::Needs::kJudgement && judged_blocks(numbers) == 0) return std::nullopt;
  const uint64_t suppressed = field.number == &SiteNumbers::leaked_bytes    ? numbers.suppressed_bytes
                              : field.number == &SiteNumbers::leaked_blocks ? numbers.suppressed_blocks
                                                                            : 0;
  return add_saturating(numbers.*field.number, suppressed);
}

std::vector<const Device*> shown_devices(const Profile& profile, const ReportView& view) {
  std::vector<const Device*> devices;
  for (const Device& device : profile.devices) {
    if (view.device.empty() || view.device == device.name) devices.push_back(&device);
  }
  return devices;
}

std::vector<uint32_t> ordered_places(const Profile& profile, const ReportView& view, const std::vector<Place>& places) {
  const Metric metric = view.sort.value_or(profile.has_lifetimes ? Metric::kPeak : Metric::kTotal);
  std::vector<uint32_t> order = rank_all_places(places, metric);
  const auto has_none = [&](uint32_t place) {
    const PlaceNumbers& numbers = places[place].numbers;
    return numbers.metric(metric) == 0 && !(metric == Metric::kLeaked && numbers.suppressed_blocks > 0);
  };
  if (view.sort) order.erase(std::remove_if(order.begin(), order.end(), has_none), order.end());
  if (view.top && order.size() > *view.top) order.resize(*view.top);
  return order;
}

}  // namespace heapprof::cli
