// cli/write/text/metric_text.h: the names of metrics in text for people.
//
// Flags, budgets, JSON, CSV and histories have one word for what was live when the run ended, `leaked`, for any kind of
// end. That word says too much: reachability was not checked, and a killed program had no time to free. So texts for
// people name how the run ended.
#pragma once

#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/profile.h"

#include <string>
#include <string_view>

namespace heapprof::cli {

// "live at exit", "live when killed", "live now", "live at exec", "live when left"; "live at the end" if the end is not
// known, or several runs ended differently.
std::string_view live_word(const RunEnd& end);
std::string_view live_word(const Profile& profile);
inline constexpr std::string_view kLiveAtEnd = "live at the end";
inline constexpr std::string_view kLiveThen = "live";  // at a snapshot

// "peak"; for kLeaked the given word.
std::string_view shown_metric(Metric metric, std::string_view live);
// The same in capitals, for the head of a table.
std::string metric_title(Metric metric, std::string_view live);

}  // namespace heapprof::cli
