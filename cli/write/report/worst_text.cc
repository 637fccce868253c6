// cli/write/report/worst_text.cc: a reader of the summary asks what kind of problem it is; the sentence is the one of
// `report --findings`. What the program held counts before what only passed through it: 100 MiB of strings that were
// freed at once are no reason to say nothing of a leak.
#include "cli/write/report/worst_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/findings.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/text/place_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace heapprof::cli {

namespace {

bool is_held(const Profile& profile, const Finding& finding) {
  const bool passed_through = finding.kind == FindingKind::kCopies || finding.kind == FindingKind::kChurn ||
                              finding.kind == FindingKind::kStorm;
  return !passed_through && finding.cost_bytes >= profile.devices[finding.device].totals.peak_bytes / 10;
}

}  // namespace

Worst::Worst(const Profile& profile, const PlaceTree& tree) : profile_(profile), tree_(tree) {
  if (can_have_findings(profile)) findings_ = find_findings(profile, tree);
}

std::string Worst::text(const std::string& file, size_t columns) const {
  constexpr size_t kFront = 7;
  if (findings_.empty()) return "";
  const auto held = std::find_if(findings_.begin(), findings_.end(),
                                 [this](const Finding& finding) { return is_held(profile_, finding); });
  const Finding& worst = held != findings_.end() ? *held : findings_[0];
  const std::string sentence =
      finding_sentence(profile_, worst, FrameNames(profile_, tree_), columns - std::min(columns, kFront));
  std::string text = "worst  " + wrapped(sentence, {kFront, kFront, columns}) + "\n";
  if (findings_.size() == 1) return text;
  const std::string call = fmt::format("{} more: heapprof report --findings", format_count(findings_.size() - 1));
  const bool fits = kFront + display_width(call) + 1 + display_width(file) <= columns;
  return text + (fits ? std::string(kFront, ' ') + call + " " + file : call + " \\\n    " + file) + "\n";
}

}  // namespace heapprof::cli
