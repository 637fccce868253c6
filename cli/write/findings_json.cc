// cli/write/findings_json.cc: `report --findings --format json`: the same findings for scripts, words included.
#include "cli/base/byte_sink.h"
#include "cli/write/findings_words.h"
#include "cli/write/json_stream.h"
#include "cli/write/run_text.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

class FindingsWriter {
 public:
  FindingsWriter(const Profile& profile, const ReportView& view, ByteSink* sink)
      : profile_(profile), view_(view), tree_(fold_tree(profile)), names_(profile, tree_), json_(sink) {}

  void write() {
    const std::vector<PlaceFinding> findings = shown_findings(profile_, view_, tree_);
    json_.begin_object();
    count("version", 1);
    json_.key("command");
    json_.begin_array();
    for (const std::string& word : profile_.run.command) json_.string(word);
    json_.end_array();
    count("pid", profile_.run.pid);
    count("duration_ns", profile_.run.duration_ns);
    json_.key("complete");
    json_.boolean(profile_.run.complete);
    count("findings_count", findings.size());
    json_.key("not_asked");
    json_.begin_array();
    for (const Unasked& unasked : find_unasked(profile_, view_.device)) json_.string(finding_name(unasked.kind));
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
  void count(std::string_view name, uint64_t value) {
    json_.key(name);
    json_.number(value);
  }
  void text(std::string_view name, std::string_view value) {
    json_.key(name);
    json_.string(value);
  }

  void write_finding(const PlaceFinding& finding) {
    json_.new_line();
    json_.begin_object();
    text("id", finding.id);
    text("kind", finding_name(finding.kind));
    text("device", profile_.devices[finding.device].name);
    if (finding.has_frame) write_frame(finding.frame);
    count("cost_bytes", finding.cost_bytes);
    count("cost_blocks_count", finding.cost_blocks);
    write_share(finding);
    write_facts(finding);
    text("what", finding_head(finding, view_) + "; " + finding_detail(profile_, finding, names_, view_));
    text("often", finding_remedy(finding.kind));
    json_.key("callers");
    json_.begin_array();
    for (const uint32_t frame : finding.callers.frames) {
      json_.begin_object();
      write_frame(frame);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write_share(const PlaceFinding& finding) {
    switch (finding.share_of) {
      case ShareOf::kPeak: return count("of_peak_bytes", finding.share.whole);
      case ShareOf::kTotalBytes: return count("of_total_bytes", finding.share.whole);
      case ShareOf::kAllocations: return count("of_allocations_count", finding.share.whole);
    }
  }

  void write_facts(const PlaceFinding& finding) {
    switch (finding.kind) {
      case FindingKind::kGrowth: count("over_ns", finding.over_ns); break;
      case FindingKind::kNeverFreed:
        count("each_bytes", finding.each_bytes);
        count("over_ns", finding.over_ns);
        break;
      case FindingKind::kCopies:
        json_.key("is_estimate");
        json_.boolean(finding.is_estimate);
        break;
      case FindingKind::kTwins:
        if (finding.other_frame == kNoModule) break;
        json_.key("original");
        json_.begin_object();
        write_frame(finding.other_frame);
        json_.end_object();
        break;
      case FindingKind::kWholeFile: break;
      case FindingKind::kChurn:
        count("each_bytes", finding.each_bytes);
        count("most_blocks_count", finding.most_blocks);
        break;
      case FindingKind::kStorm:
        count("each_bytes", finding.each_bytes);
        count("most_blocks_count", finding.most_blocks);
        count("temporary_count", finding.temporary_blocks);
        break;
    }
  }

  void write_frame(uint32_t index) {
    const Frame& frame = profile_.frames[index];
    if (!frame.function.empty()) text("function", frame.function);
    if (!frame.file.empty()) text("file", frame.file);
    if (frame.line > 0) count("line", frame.line);
    if (frame.module < profile_.modules.size()) text("module", profile_.modules[frame.module].path);
    if (frame.function.empty()) count("address", frame.svma);
  }

  const Profile& profile_;
  const ReportView& view_;
  FoldedTree tree_;
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
