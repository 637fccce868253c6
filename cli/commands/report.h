// cli/commands/report.h: `heapprof report FILE`: a profile as text, JSON or CSV on stdout.
#pragma once

#include "cli/flags/options.h"
#include "cli/flags/suppression_options.h"
#include "cli/write/report/formats.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct ReportOptions {
  std::vector<std::string> files;
  ReportView view;
  SuppressionOptions suppressions;
  uint64_t top = 0;        // 0: not given
  std::string between;     // A..B: two snapshots
  std::string categories;  // a file
  const ReportFormat* format = nullptr;
  std::string html;                    // the page's file; empty: no page is written
  const ReportTable* table = nullptr;  // only this table; nullptr: the sections that `view` selects
  ColorMode color = ColorMode::kAuto;
};

CommandText report_text();
void declare_report_options(Options* options, ReportOptions* target);

// The exit code: 0, 2 for wrong usage, 3 for a profile that cannot be read.
int report_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
