// cli/write/export/pprof_fields.h: the numbers of fields in profile.proto, and the types of the written samples.
#pragma once

#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/site_numbers.h"

#include <protozero/types.hpp>

#include <cstdint>

namespace heapprof::cli::pprof {

namespace top {
enum : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample,
  kMapping,
  kLocation,
  kFunction,
  kStringTable,
  kDropFrames,
  kTimeNanos = 9,
  kDurationNanos,
  kPeriodType,
  kPeriod,
  kComment,
  kDefaultSampleType
};
}
namespace value_type {
enum : protozero::pbf_tag_type { kType = 1, kUnit };
}
namespace sample {
enum : protozero::pbf_tag_type { kLocationId = 1, kValue, kLabel };
}
namespace label {
enum : protozero::pbf_tag_type { kKey = 1, kText };
}
namespace mapping {
enum : protozero::pbf_tag_type {
  kId = 1,
  kStart,
  kLimit,
  kOffset,
  kFile,
  kBuildId,
  kHasFunctions,
  kHasFiles,
  kHasLines,
  kHasInlined
};
}
namespace location {
enum : protozero::pbf_tag_type { kId = 1, kMapping, kAddress, kLine };
}
namespace line {
enum : protozero::pbf_tag_type { kFunction = 1, kLine };
}
namespace function {
// The field system_name is not written: if a function has it, pprof treats its name as mangled, and cuts out template
// arguments.
enum : protozero::pbf_tag_type { kId = 1, kName, kFile = 4 };
}  // namespace function

struct SampleType {
  const char* type;
  const char* unit;
  Metric metric;  // --metric with which viewers show it first
  bool is_shown_for_metric;
  uint64_t (*value)(const SiteNumbers&);
};

inline constexpr SampleType kTypes[] = {
    {"alloc_objects", "count", Metric::kAllocations, true, [](const SiteNumbers& n) { return n.total_blocks; }},
    {"alloc_space", "bytes", Metric::kTotal, true, [](const SiteNumbers& n) { return n.total_bytes; }},
    {"inuse_objects", "count", Metric::kLeaked, false, [](const SiteNumbers& n) { return n.leaked_blocks; }},
    {"inuse_space", "bytes", Metric::kLeaked, true, [](const SiteNumbers& n) { return n.leaked_bytes; }},
    {"peak_objects", "count", Metric::kPeak, false, [](const SiteNumbers& n) { return n.peak_blocks; }},
    {"peak_space", "bytes", Metric::kPeak, true, [](const SiteNumbers& n) { return n.peak_bytes; }},
    {"temporary_objects", "count", Metric::kTemporary, true, [](const SiteNumbers& n) { return n.temporary_blocks; }},
};

}  // namespace heapprof::cli::pprof
