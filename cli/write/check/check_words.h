// cli/write/check/check_words.h: the texts of a verdict that all formats share. Only control characters are escaped
// here.
#pragma once

#include "cli/model/judge/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapprof::cli {

std::string subject_text(const Verdict& verdict, const Judged& line);  // "host peak", "host live at exit"
std::string subject_name(const Judged& line);                     // "host peak", "host leaked": for any kind of end
std::string subject_key(const Judged& line);                      // "host_peak_bytes": letters, digits and _
std::string rule_name(const Judged& line);                        // "peak" … or "contract": what kind of claim it is
std::string amount_text(const Subject& subject, uint64_t value);  // "1.92 GiB", "1,840,212", "60.5 %"
std::string value_text(const Judged& line);                       // the measured value, or the finding
std::string excess_text(const Judged& line);                      // "+1.42 GiB": beyond the limit; "" if within it
std::string growth_text(uint64_t base, uint64_t value);           // "+12.3 %", "±0", "new"
std::string limit_text(const Judged& line);                       // "limit 512 MiB", "expected 980 B to 1020 B"
std::string bounds_text(const Judged& line);                      // "limit 512 MiB, baseline 1.71 GiB"
std::string culprit_source(const Culprit& culprit);               // "src/index.cc:212", "libfoo.so"
std::string culprit_function(const Culprit& culprit);             // "build_index"
std::string culprit_text(const Judged& line);                     // "build_index holds 1.21 GiB"; "" without a culprit
std::string sentence(const Verdict& verdict, const Judged& line);  // "host peak 1.92 GiB, limit 512 MiB; build_index …"
std::string trouble_text(const Verdict& verdict);                  // "the program failed: exit 3"
std::string unjudged_text(
    const Verdict& verdict);  // "2 processes that it started were not judged"; "" if none were left out
std::string unit_name(const Subject& subject);                 // "bytes", "blocks", "percent", "count", "hundredths"
const char* outcome_word(const Judged& line, bool warn_only);  // "fail", "warning", "ok"
// 32 hexadecimal digits that identify a verdict's line; they do not depend on the measured values.
std::string fingerprint(const Verdict& verdict, const Judged& line);
std::string fingerprint(const Verdict& verdict, std::string_view what);  // "run", "processes"

// The file and line at which services show a verdict.
// The culprit's source line, if it is in the project; else the limit's own line, if that is in a file of the project.
std::optional<FileLine> source_line(const std::string& folder, const Judged* line);
// For formats that always need a file: without a source line, the file is the profile, or is called like the verdict.
FileLine any_source_line(const std::string& folder, const Verdict& verdict, const Judged* line);

}  // namespace heapprof::cli
