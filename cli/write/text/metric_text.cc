// cli/write/text/metric_text.cc: see metric_text.h.
#include "cli/write/text/metric_text.h"

#include <algorithm>
#include <cctype>

namespace heapprof::cli {

std::string_view live_word(const RunEnd& end) {
  switch (end.kind) {
    case EndKind::kExited: return "live at exit";
    case EndKind::kSignaled: return "live when killed";
    case EndKind::kExec: return "live at exec";
    case EndKind::kDetached: return "live when left";
    case EndKind::kRunning: return "live now";
    case EndKind::kUnknown: break;
  }
  return kLiveAtEnd;
}

std::string_view live_word(const Profile& profile) {
  if (profile.is_moment) return kLiveThen;
  if (profile.merged.empty()) return live_word(profile.run.end);
  const std::string_view word = live_word(profile.merged.front().end);
  const bool is_one = std::all_of(profile.merged.begin(), profile.merged.end(),
                                  [word](const MergedPart& part) { return live_word(part.end) == word; });
  return is_one ? word : kLiveAtEnd;
}

std::string_view shown_metric(Metric metric, std::string_view live) {
  return metric == Metric::kLeaked ? live : metric_word(metric);
}

std::string metric_title(Metric metric, std::string_view live) {
  std::string title(shown_metric(metric, live));
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return title;
}

}  // namespace heapprof::cli
