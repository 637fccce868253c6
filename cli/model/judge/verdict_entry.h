// cli/model/judge/verdict_entry.h: a verdict as a line of a history.
#pragma once

#include "cli/model/judge/history.h"
#include "cli/model/judge/verdict.h"

#include <string>

namespace heapprof::cli {

// The judged numbers of the device: the medians if there were several runs, of which `profile` is only one.
HistoryEntry make_history_entry(const Profile& profile, const Device& device, const Verdict& verdict,
                                const std::string& commit);

}  // namespace heapprof::cli
