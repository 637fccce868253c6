// cli/model/analysis/metrics.cc: what a metric needs is what its number needs.
#include "cli/model/analysis/metrics.h"

namespace heapprof::cli {

bool has_numbers(const Profile& profile, SiteField::Needs needs) {
  switch (needs) {
    case SiteField::Needs::kNothing: return true;
    case SiteField::Needs::kLifetimes: return profile.has_lifetimes;
    // What happened between a chosen block's begin and its end is not known.
    case SiteField::Needs::kOurs: return profile.dialect == Dialect::kHeapprof && !profile.run.sampling.is_sampled();
    case SiteField::Needs::kSizes:
    case SiteField::Needs::kLeaks: return profile.dialect == Dialect::kHeapprof;
    case SiteField::Needs::kJudgement: return profile.run.leak_check.is_made;
  }
  return false;
}

bool has_metric(const Profile& profile, Metric metric) {
  if (profile.is_moment && metric != Metric::kLeaked) return false;  // of a moment what was live, and nothing else
  return has_numbers(profile, site_field_of(metric).needs);
}

}  // namespace heapprof::cli
