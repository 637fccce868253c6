// cli/write/report/suppressions_text.h: what each rule took, in words (--list-suppressions).
#pragma once

#include "cli/write/report/report_view.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

struct SuppressedRules {
  std::string remark;  // "11 of 45 rules used"
  std::string rows;    // the largest first; of the built-in rules those that took some
};
SuppressedRules suppressed_rules(const ReportView& view, const Device& device, size_t columns, bool colored);

}  // namespace heapprof::cli
