// cli/model/judge/scope_subject.h: the numbers of a scope that a budget, or a baseline, can limit: one line for each
// number.
//
// Keys of budgets, words, units, and which numbers have an average per run follow from kScopeMetrics.
//
// Guarantees
//  - An average of a count is stored in hundredths and rounded up, so that a single call too many exceeds the limit.
// Not provided: times. They differ from run to run and from machine to machine, and users switch off a check that fails
// at random.
#pragma once

#include "cli/base/problems.h"
#include "cli/model/profile/scopes.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class ScopeMetric { kCount, kPeak, kKept, kAllocated, kBlocks, kKernelLaunches, kCalls };

struct ScopeMetricField {
  enum class Of { kScope, kDevice, kCall };

  ScopeMetric metric;
  const char* word;     // in budgets, and in outputs for scripts
  const char* average;  // word for the average per run of the scope; null: no such number
  const char* shown;    // as `heapprof diff` shows it; a call is shown by its own name
  Of of;
  bool is_in_bytes;
};

inline constexpr std::array kScopeMetrics = {
    ScopeMetricField{ScopeMetric::kCount, "count", nullptr, "count", ScopeMetricField::Of::kScope, false},
    ScopeMetricField{ScopeMetric::kPeak, "peak", nullptr, "peak inside", ScopeMetricField::Of::kDevice, true},
    ScopeMetricField{ScopeMetric::kKept, "kept", "kept_per_run", "kept", ScopeMetricField::Of::kDevice, true},
    ScopeMetricField{ScopeMetric::kAllocated, "allocated", "allocated_per_run", "allocated",
                     ScopeMetricField::Of::kDevice, true},
    ScopeMetricField{ScopeMetric::kBlocks, "blocks", "blocks_per_run", "blocks", ScopeMetricField::Of::kDevice, false},
    ScopeMetricField{ScopeMetric::kKernelLaunches, "kernel_launches", "kernel_launches_per_run", "kernel launches",
                     ScopeMetricField::Of::kScope, false},
    ScopeMetricField{ScopeMetric::kCalls, "calls", "calls_per_run", "calls", ScopeMetricField::Of::kCall, false},
};
constexpr const ScopeMetricField& scope_metric_field(ScopeMetric metric) {
  return kScopeMetrics[static_cast<size_t>(metric)];
}
static_assert([] {
  for (size_t i = 0; i < kScopeMetrics.size(); ++i) {
    if (static_cast<size_t>(kScopeMetrics[i].metric) != i) return false;
  }
  return true;
}());

// A scope is identified by its path: the names of the scopes around it and its own, the outermost first.
struct ScopeName {
  std::string category;  // empty: none
  std::string name;

  auto operator<=>(const ScopeName&) const = default;
};
using ScopePath = std::vector<ScopeName>;
std::string scope_path_text(const ScopePath& path);  // "load > json: parse"; controls are escaped

// The part of a limit's subject that is about scopes.
struct ScopeSubject {
  size_t scope = 0;  // index into Budget::scopes
  ScopeMetric metric = ScopeMetric::kCount;
  bool is_per_run = false;
  std::string call;  // for kCalls: a glob for names of calls
  ScopePath path;    // empty in a limit, which applies to each scope that matches the pattern

  auto operator<=>(const ScopeSubject&) const = default;
};

// Scopes that a budget names.
struct ScopeBudget {
  std::string pattern;  // a glob for the text of a path
  FileLine at;          // line 0: `file` is the flag
};

constexpr uint64_t kHundredths = 100;  // averages of counts are stored in hundredths

bool is_in_bytes(const ScopeSubject& subject);
// Whether it is an average of a count, which is in hundredths.
bool is_average(const ScopeSubject& subject);
const char* scope_word(const ScopeSubject& subject);   // "calls_per_run"
std::string scope_shown(const ScopeSubject& subject);  // "synchronize stream per run", "peak inside"

}  // namespace heapprof::cli
