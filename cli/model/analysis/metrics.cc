// cli/model/analysis/metrics.cc: a profile has a metric if it has what the metric's number needs.
#include "cli/model/analysis/metrics.h"

namespace heapprof::cli {

bool has_numbers(const Profile& profile, SiteField::Needs needs) {
  switch (needs) {
    case SiteField::Needs::kNothing: return true;
    case SiteField::Needs::kLifetimes: return profile.has_lifetimes;
    // With sampling, the events between a block's begin and end are unknown.
    case SiteField::Needs::kOurs: return profile.dialect == Dialect::kHeapprof && !profile.run.sampling.is_sampled();
    case SiteField::Needs::kSizes:
    case SiteField::Needs::kLeaks: return profile.dialect == Dialect::kHeapprof;
    case SiteField::Needs::kJudgement: return profile.run.leak_check.is_made;
  }
  return false;
}

bool has_metric(const Profile& profile, Metric metric) {
  if (profile.is_moment && metric != Metric::kLeaked) return false;  // a moment has only live memory
  return has_numbers(profile, site_field_of(metric).needs);
}

}  // namespace heapprof::cli
