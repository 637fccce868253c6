// cli/write/report/findings_words.h: findings in words: what was found, what it costs, and the usual remedy.
#pragma once

#include "cli/model/analysis/findings.h"
#include "cli/write/report/report_view.h"
#include "cli/write/text/place_text.h"

#include <string>
#include <string_view>

namespace heapprof::cli {

// The programming language for a finding's advice: that of the place's source file, by its name.
enum class Language { kC, kCpp, kRust, kPython, kOther };
Language language_of(const Profile& profile, const Finding& finding);

// "grew by 42.0 MiB in 3.6 s"
std::string finding_head(const Finding& finding, const ReportView& view);
// A sentence without a full stop.
std::string finding_detail(const Profile& profile, const Finding& finding, const FrameNames& names,
                           const ReportView& view);
std::string finding_remedy(const Profile& profile, const Finding& finding);
// All in one sentence without a full stop: the cost, the place, the kind of problem, the remedy. No word is wider than
// `word_columns`: function, file and device are shortened.
std::string finding_sentence(const Profile& profile, const Finding& finding, const FrameNames& names,
                             size_t word_columns);
// The place of Python's arenas, whose blocks cannot be distinguished.
inline constexpr std::string_view kArenas = "arenas of Python's small objects (run --python-objects tells whose)";
// "parse (load.cc:12) on cuda:0", shortened likewise. `frame`: kNoModule if there is no frame; `more_lines`: added
// after the location.
std::string place_words(const Profile& profile, const FrameNames& names, uint32_t frame, uint32_t device,
                        size_t word_columns, const std::string& more_lines = {});
// ", :15, :18": the other lines of the finding's function, to be added after its location; empty if there is only one
// line.
std::string other_lines_text(const Profile& profile, const Finding& finding);
std::string share_text(const Profile& profile, const Finding& finding);  // "71.0 % of the peak"
// What a rule looks for, understandable without a manual: "places that hold more and more".
std::string looked_for(FindingKind kind);
// Why a rule could not be applied.
std::string why_unasked(const Profile& profile, const Unasked& unasked);

// The findings on the devices that the view shows.
std::vector<Finding> shown_findings(const Profile& profile, const ReportView& view, const PlaceTree& tree);

}  // namespace heapprof::cli
