// cli/write/report/formats.h: the formats of a report.
//
// A new format is one file with one function of Renderer's signature, one line in formats.cc, and one golden test;
// scripts/check-help compares --help, the man page and the completions with the list.
#pragma once

#include "cli/base/terminal.h"
#include "cli/write/report/report_view.h"
#include "cli/write/report/tables/tables.h"

#include <span>
#include <string>
#include <string_view>

namespace heapprof::cli {

using Renderer = std::string (*)(const Profile& profile, const ReportView& view, const Terminal& terminal);

struct ReportFormat {
  const char* name;  // of --format
  Renderer render;
  Renderer render_findings;   // nullptr: this format cannot show findings
  Renderer render_snapshots;  // nullptr: this format cannot show snapshots
  bool is_of_scopes = false;  // shows scopes and nothing else
  std::string (*render_table)(std::string_view name, const CellTable& table) = nullptr;  // nullptr: no --table
};

std::span<const ReportFormat> report_formats();

std::string render_report_text(const Profile& profile, const ReportView& view, const Terminal& terminal);
std::string render_report_json(const Profile& profile, const ReportView& view, const Terminal& terminal);
std::string render_scopes_dot(const Profile& profile, const ReportView& view, const Terminal& terminal);
std::string render_report_csv(const Profile& profile, const ReportView& view, const Terminal& terminal);
// pre: can_have_findings(profile)
std::string render_findings_text(const Profile& profile, const ReportView& view, const Terminal& terminal);
std::string render_findings_json(const Profile& profile, const ReportView& view, const Terminal& terminal);
std::string render_snapshots_text(const Profile& profile, const ReportView& view, const Terminal& terminal);
std::string render_snapshots_json(const Profile& profile, const ReportView& view, const Terminal& terminal);

}  // namespace heapprof::cli
