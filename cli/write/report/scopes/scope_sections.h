// cli/write/report/scopes/scope_sections.h: the parts of a text report about the program's own scopes.
#pragma once

#include "cli/write/report/report_view.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

// Whether the view shows scopes instead of the tables.
bool is_about_scopes(const ReportView& view);

std::string scope_sections(const Profile& profile, const ReportView& view, size_t columns);

}  // namespace heapprof::cli
