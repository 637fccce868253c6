// cli/write/text/metric_text.h: what metrics are called where people read them.
//
// Flags, budgets, JSON, CSV and histories have one word for what was live when the run ended, `leaked`, whatever the
// end was. Nobody has looked whether anything could still reach it, and a program that was killed had no time to free
// it: texts say how it was.
#pragma once

#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/profile.h"

#include <string>
#include <string_view>

namespace heapprof::cli {

// "live at exit", "live when killed", "live now", "live at exec", "live when left"; "live at the end" where the end is
// not known, or several runs ended differently.
std::string_view live_word(const RunEnd& end);
std::string_view live_word(const Profile& profile);
inline constexpr std::string_view kLiveAtEnd = "live at the end";
inline constexpr std::string_view kLiveThen = "live";  // at a snapshot

// "peak", and for what was live at the end the word given.
std::string_view shown_metric(Metric metric, std::string_view live);
// The same in capitals, as over a table.
std::string metric_title(Metric metric, std::string_view live);

}  // namespace heapprof::cli
