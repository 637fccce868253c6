// cli/write/report/processes_text.h: the other processes of the run, as the profile of the program that was started has
// them, and where their profiles are.
//
// Guarantees
//  - No line is wider than `columns`, but for numbers and for calls that can be pasted.
//  - Both are empty if the profile knows of no others.
#pragma once

#include "cli/write/report/report_view.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

// The largest of the others, if it had more memory than this one: whoever asks where the memory went asks about it.
std::string larger_process_line(const Profile& profile, const ReportView& view, size_t columns);

// A line or two for each of the largest, the rest counted.
std::string processes_text(const Profile& profile, const ReportView& view, size_t columns);

}  // namespace heapprof::cli
