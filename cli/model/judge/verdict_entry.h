// cli/model/judge/verdict_entry.h: a verdict as a line of a history.
#pragma once

#include "cli/model/judge/history.h"
#include "cli/model/judge/verdict.h"

#include <string>

namespace heapprof::cli {

// Makes an entry of the device's judged numbers. If there were several runs, these are the medians, and `profile` is
// only one of the runs.
HistoryEntry make_history_entry(const Profile& profile, const Device& device, const Verdict& verdict,
                                const std::string& commit);

}  // namespace heapprof::cli
