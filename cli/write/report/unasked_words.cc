// cli/write/report/unasked_words.cc: the rules that could not be applied, in words: a rule that lacks its data and says
// nothing would look like good news.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/findings_words.h"

#include <fmt/format.h>

namespace heapprof::cli {

std::string looked_for(FindingKind kind) {
  switch (kind) {
    case FindingKind::kGrowth: return "places that hold more and more";
    case FindingKind::kNeverFreed: return "large blocks that are never freed";
    case FindingKind::kSmallNeverFreed: return "small blocks that are never freed";
    case FindingKind::kStartPeak: return "memory that only the start needs";
    case FindingKind::kSpike: return "memory that is needed for a short time";
    case FindingKind::kBacklog: return "queues that fill up";
    case FindingKind::kCopies: return "containers that copy while they grow";
    case FindingKind::kOldAndNew: return "old blocks beside new ones at the peak";
    case FindingKind::kTwins: return "values that are held twice";
    case FindingKind::kWholeFile: return "whole files in memory";
    case FindingKind::kChurn: return "blocks of one size, again and again";
    case FindingKind::kStorm: return "very many tiny blocks";
    case FindingKind::kFragmentation: return "memory that stays resident when it is freed";
    case FindingKind::kUntouched: return "large blocks that are not used";
  }
  return "";
}

std::string why_unasked(const Profile& profile, const Unasked& unasked) {
  switch (unasked.lack) {
    case Lack::kOneRun: return "these are several runs, added up";
    case Lack::kTime:
      return fmt::format("the run took {}, and less than {} says nothing", format_duration(profile.run.duration_ns),
                         format_duration(least_run_ns(unasked.kind)));
    case Lack::kMoments: return "the file does not say what places held when";
    case Lack::kHostMoments:
      return fmt::format("not on {}: the file does not say what places held there over time",
                         escape_controls(unasked.devices));
    case Lack::kEnd: return "the program did not come to its own end, where it might have freed them";
    case Lack::kEveryBlock:
      return fmt::format("pages are judged only if every block is known, and {}",
                         profile.run.sampling.is_sampled() ? "blocks were sampled"
                         : profile.run.sampling.has_any()  ? "recording was paused"
                                                           : "the profile is incomplete");
    case Lack::kNames: return "told by the names of functions, which a third of the peak or more has not";
  }
  return "";
}

}  // namespace heapprof::cli
