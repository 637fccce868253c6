// cli/write/report/scopes/scope_sections.h: what of a text report is about the program's own scopes.
#pragma once

#include "cli/write/report/report_view.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

// Whether the view is about scopes, in place of the tables.
bool is_about_scopes(const ReportView& view);

std::string scope_sections(const Profile& profile, const ReportView& view, size_t columns);

}  // namespace heapprof::cli
