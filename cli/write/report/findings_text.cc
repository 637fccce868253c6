// cli/write/report/findings_text.cc: `report --findings` for people: four lines per finding: cost, place, facts,
// remedy.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/folding.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/report/formats.h"
#include "cli/write/text/fold_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kFaint = "\x1b[2m";
constexpr size_t kIndent = 4;
constexpr size_t kWidest = 100;  // columns of prose
constexpr size_t kShown = 20;

class FindingsText {
 public:
  FindingsText(const Profile& profile, const ReportView& view, const Terminal& terminal)
      : profile_(profile),
        view_(view),
        colored_(terminal.colored),
        columns_(static_cast<size_t>(terminal.columns)),
        tree_(build_place_tree(profile)),
        names_(profile, tree_) {}

  std::string render() {
    const std::vector<Finding> findings = shown_findings(profile_, view_, tree_);
    const size_t shown = std::min(findings.size(), view_.top.value_or(kShown));
    wrap(findings.empty() ? "no findings"
                          : format_counted(findings.size(), "finding") + ", in the order to look at them",
         0, "");
    for (size_t i = 0; i < shown; ++i) show(findings[i]);
    if (shown < findings.size())
      text_ += fmt::format("\n{} more: --top {}\n", findings.size() - shown, findings.size());
    const std::string folded = folded_text(find_folded_names(profile_, tree_, shown_devices(profile_, view_)), kWidest);
    if (!folded.empty() && !findings.empty()) {
      text_ += "\n";
      wrap(folded, 0, "");
    }
    unjudged(findings.empty());
    return text_;
  }

 private:
  std::string painted(const std::string& text, std::string_view paint) const {
    return colored_ && !paint.empty() ? std::string(paint) + text + "\x1b[0m" : text;
  }
  std::string bold(const std::string& text) const { return painted(text, kBold); }
  std::string faint(const std::string& text) const { return painted(text, kFaint); }

  // Lists what could not be judged, by reason. If there are no findings, it also lists what was not requested or cannot
  // be seen.
  void unjudged(bool is_whole) {
    std::vector<std::pair<std::string, std::string>> lines;  // why, what
    for (const Unasked& one : find_unasked(profile_, view_.device)) {
      const std::string why = why_unasked(profile_, one);
      const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == why; });
      if (same == lines.end()) {
        lines.emplace_back(why, looked_for(one.kind));
      } else {
        same->second += ", " + looked_for(one.kind);
      }
    }
    if (!profile_.run.complete)
      lines.emplace_back(
          profile_.run.incomplete_reason.empty() ? "unknown" : escape_controls(profile_.run.incomplete_reason),
          "what is not in this profile, which is incomplete");
    const LeakJudgement& judgement = profile_.run.leak_check;
    if (is_whole && !judgement.is_made)
      lines.emplace_back(judgement.is_asked ? escape_controls(judgement.reason) : "heapprof run --leak-check asks that",
                         "whether live blocks can still be reached");
    if (is_whole)
      lines.emplace_back("only the pages of blocks of 64 KiB and more are looked at",
                         "small blocks that are never used");
    if (lines.empty()) return;
    text_ += is_whole ? "not judged:\n" : "\nnot judged:\n";
    for (const auto& [why, what] : lines) wrap(what + ": " + why, 2, "");
  }

  void show(const Finding& finding) {
    std::string head = share_text(profile_, finding) + "  " + finding_head(finding, view_);
    if (profile_.devices.size() > 1) head += " on " + escape_controls(profile_.devices[finding.device].name);
    const size_t right_end = std::min(columns_, kWidest);
    const std::string name = fmt::format("{} {}", finding_name(finding.kind), finding.id);
    const size_t used = display_width(head) + name.size();
    const bool has_room = used + 2 <= right_end;
    text_ += "\n";
    if (has_room) {
      text_ += bold(head) + std::string(right_end - used, ' ') + faint(name) + "\n";
    } else {
      wrap(head, 0, kBold);
    }
    PlaceLine line;
    line.function = finding.has_frame ? names_.function(finding.frame) : "[no stack]";
    line.location = finding.has_frame ? names_.location(finding.frame) + other_lines_text(profile_, finding) : "";
    line.callers = &finding.callers;
    size_t function_column = 0;
    text_ += lay_out(names_, {line}, kIndent, columns_, &function_column).front() + "\n";
    wrap(finding_detail(profile_, finding, names_, view_), kIndent, "");
    wrap("often: " + finding_remedy(profile_, finding), kIndent, kFaint);
    if (!has_room) text_ += std::string(kIndent, ' ') + faint(name) + "\n";
  }

  // Breaks between words, at the width of prose.
  void wrap(const std::string& text, size_t indent, const char* paint) {
    const size_t room = std::max<size_t>(std::min(columns_, kWidest), indent + 20) - indent;
    std::string line;
    const auto end_line = [&] {
      if (!line.empty()) text_ += std::string(indent, ' ') + painted(line, paint) + "\n";
      line.clear();
    };
    for (size_t at = 0; at < text.size();) {
      const size_t space = std::min(text.find(' ', at), text.size());
      const std::string word = shorten_middle(text.substr(at, space - at), room);
      if (!line.empty() && display_width(line) + 1 + display_width(word) > room) end_line();
      line += (line.empty() ? "" : " ") + word;
      at = space + 1;
    }
    end_line();
  }

  const Profile& profile_;
  const ReportView& view_;
  bool colored_;
  size_t columns_;
  PlaceTree tree_;
  FrameNames names_;
  std::string text_;
};

}  // namespace

std::string render_findings_text(const Profile& profile, const ReportView& view, const Terminal& terminal) {
  const std::string text = FindingsText(profile, view, terminal).render();
  return terminal.utf8 ? text : to_ascii(text);
}

}  // namespace heapprof::cli
