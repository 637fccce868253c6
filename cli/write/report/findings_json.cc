// cli/write/report/findings_json.cc: `report --findings --format json`: the same findings for scripts, words included.
#include "cli/base/byte_sink.h"
#include "cli/model/analysis/folding.h"
#include "cli/write/encode/frame_json.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/report/formats.h"
#include "cli/write/text/run_text.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

class FindingsWriter {
 public:
  FindingsWriter(const Profile& profile, const ReportView& view, ByteSink* sink)
      : profile_(profile), view_(view), tree_(build_place_tree(profile)), names_(profile, tree_), json_(sink) {}

  void write() {
    const std::vector<Finding> findings = shown_findings(profile_, view_, tree_);
    json_.begin_object();
    json_.count("version", 1);
    json_.key("command");
    json_.begin_array();
    for (const std::string& word : profile_.run.command) json_.string(word);
    json_.end_array();
    if (!profile_.run.title.empty()) json_.text("title", profile_.run.title);
    json_.count("pid", profile_.run.pid);
    json_.count("duration_ns", profile_.run.duration_ns);
    json_.key("complete");
    json_.boolean(profile_.run.complete);
    json_.count("findings_count", findings.size());
    json_.texts("folded", find_folded_names(profile_, tree_, shown_devices(profile_, view_)));
    json_.key("not_asked");
    json_.begin_array();
    for (const Unasked& unasked : find_unasked(profile_, view_.device)) json_.string(finding_name(unasked.kind));
    json_.end_array();
    json_.key("not_judged");
    json_.begin_array();
    for (const Unasked& unasked : find_unasked(profile_, view_.device)) {
      json_.begin_object();
      json_.text("kind", finding_name(unasked.kind));
      json_.text("what", looked_for(unasked.kind));
      json_.text("why", why_unasked(profile_, unasked));
      json_.end_object();
    }
    json_.end_array();
    json_.key("findings");
    json_.begin_array();
    const size_t shown = std::min(findings.size(), view_.top.value_or(findings.size()));
    for (size_t i = 0; i < shown; ++i) write_finding(findings[i]);
    json_.end_array();
    json_.end_object();
    json_.finish();
  }

 private:
  void write_finding(const Finding& finding) {
    json_.new_line();
    json_.begin_object();
    json_.text("id", finding.id);
    json_.text("kind", finding_name(finding.kind));
    json_.text("device", profile_.devices[finding.device].name);
    if (finding.has_frame) write_frame(profile_, finding.frame, &json_);
    if (!finding.other_lines.empty()) {
      json_.key("other_lines");
      json_.begin_array();
      for (const uint32_t frame : finding.other_lines) json_.number(profile_.frames[frame].line);
      json_.end_array();
    }
    if (!finding.memory_name.empty()) json_.text("memory_name", finding.memory_name);
    if (!finding.held_by.empty()) json_.text("held_by", finding.held_by);
    json_.count("cost_bytes", finding.cost_bytes);
    json_.count("cost_blocks_count", finding.cost_blocks);
    write_share(finding);
    write_facts(finding);
    json_.text("what", finding_head(finding, view_) + "; " + finding_detail(profile_, finding, names_, view_));
    json_.text("often", finding_remedy(profile_, finding));
    json_.key("callers");
    json_.begin_array();
    for (const uint32_t frame : finding.callers.frames) {
      json_.begin_object();
      write_frame(profile_, frame, &json_);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write_share(const Finding& finding) {
    switch (finding.share_of) {
      case ShareOf::kPeak: return json_.count("of_peak_bytes", finding.share.whole);
      case ShareOf::kTotalBytes: return json_.count("of_total_bytes", finding.share.whole);
      case ShareOf::kResident: return json_.count("of_resident_bytes", finding.share.whole);
      case ShareOf::kAllocations: return json_.count("of_allocations_count", finding.share.whole);
    }
  }

  void write_facts(const Finding& finding) {
    switch (finding.kind) {
      case FindingKind::kGrowth:
        json_.count("over_ns", finding.over_ns);
        json_.key("live_at_exit");
        json_.boolean(finding.is_left);
        break;
      case FindingKind::kNeverFreed:
        json_.count("each_bytes", finding.each_bytes);
        json_.count("over_ns", finding.over_ns);
        write_owners(finding);
        break;
      case FindingKind::kSmallNeverFreed:
        json_.count("each_bytes", finding.each_bytes);
        json_.count("over_ns", finding.over_ns);
        json_.count("allocations_count", finding.all_blocks);
        write_owners(finding);
        break;
      case FindingKind::kStartPeak:
        json_.count("place_at_peak_bytes", finding.at_peak_bytes);
        json_.count("from_ns", finding.from_ns);
        json_.count("later_bytes", finding.later_bytes);
        json_.key("is_at_least");
        json_.boolean(finding.is_at_least);
        break;
      case FindingKind::kSpike:
        json_.count("over_ns", finding.over_ns);
        json_.count("place_at_peak_bytes", finding.at_peak_bytes);
        json_.count("elsewhere_bytes", finding.later_bytes);
        json_.key("is_at_least");
        json_.boolean(finding.is_at_least);
        break;
      case FindingKind::kBacklog:
        json_.count("lifetime_ns", finding.lifetime_ns);
        json_.count("allocations_count", finding.all_blocks);
        break;
      case FindingKind::kOldAndNew: break;
      case FindingKind::kCopies:
        json_.key("is_estimate");
        json_.boolean(finding.is_estimate);
        json_.key("is_concatenation");
        json_.boolean(finding.is_concatenation);
        break;
      case FindingKind::kTwins:
        if (finding.other_frame == kNoModule) break;
        json_.key("original");
        json_.begin_object();
        write_frame(profile_, finding.other_frame, &json_);
        json_.end_object();
        break;
      case FindingKind::kWholeFile: break;
      case FindingKind::kChurn:
        json_.count("each_bytes", finding.each_bytes);
        json_.count("most_blocks_count", finding.most_blocks);
        break;
      case FindingKind::kStorm:
        json_.count("each_bytes", finding.each_bytes);
        json_.count("most_blocks_count", finding.most_blocks);
        json_.count("temporary_count", finding.temporary_blocks);
        break;
      case FindingKind::kFragmentation:
        json_.count("from_ns", finding.from_ns);
        json_.count("empty_bytes", finding.empty_bytes);
        json_.key("is_pinned");
        json_.boolean(finding.is_pinned);
        break;
      case FindingKind::kUntouched:
        json_.count("seen_ns", finding.seen_ns);
        json_.count("large_bytes", finding.at_peak_bytes);
        json_.count("large_count", finding.cost_blocks);
        break;
    }
  }

  // The owners of lost memory, if known.
  void write_owners(const Finding& finding) {
    if (finding.owners == 0) return;
    json_.count("owners_count", finding.owners);
    json_.key("is_cycle");
    json_.boolean(finding.is_cycle);
    if (!finding.is_cycle) return;
    json_.key("cycle_with");
    json_.begin_array();
    for (const uint32_t frame : finding.cycle_frames) {
      json_.begin_object();
      if (frame != kNoModule) write_frame(profile_, frame, &json_);
      json_.end_object();
    }
    json_.end_array();
  }

  const Profile& profile_;
  const ReportView& view_;
  PlaceTree tree_;
  FrameNames names_;
  JsonWriter json_;
};

}  // namespace

std::string render_findings_json(const Profile& profile, const ReportView& view, const Terminal&) {
  StringSink sink;
  FindingsWriter(profile, view, &sink).write();
  return sink.text();
}

}  // namespace heapprof::cli
