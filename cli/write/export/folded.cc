// cli/write/export/folded.cc: the format has no escapes: a character that would end a frame or a line is written as
// \x3b, as control characters are shown elsewhere.
#include "cli/base/text.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/export/exports.h"

#include <string>
#include <vector>

namespace heapprof::cli {
namespace {

std::string folded_name(const std::string& label) {
  std::string name;
  for (const char c : escape_controls(label)) {
    if (c == ';') {
      name += "\\x3b";
    } else {
      name += c;
    }
  }
  return name;
}

}  // namespace

void write_folded(const Profile& profile, const ExportView& view, ByteSink* sink) {
  if (profile.devices.empty()) return;
  const LabelTree tree = build_label_tree(profile, view.full_names ? LabelBy::kFunction : LabelBy::kShortFunction);
  const std::vector<uint64_t> sums = sum_by_node(tree, exported_device(profile, view), exported_metric(profile, view));
  std::vector<std::string> names;
  names.reserve(tree.frames.size());
  for (const uint32_t index : tree.frames) {
    const Frame& frame = profile.frames[index];
    names.push_back(folded_name(view.full_names ? frame_label(profile, frame) : short_label(profile, frame)));
  }
  std::vector<uint32_t> path;
  std::string line;
  for (uint32_t node = 0; node < sums.size(); ++node) {
    if (sums[node] == 0) continue;
    collect_path(tree, node, &path);
    line = path.empty() ? kNoStackText : "";
    for (const uint32_t label : path) {
      if (!line.empty()) line += ';';
      line += names[label];
    }
    line += ' ';
    line += std::to_string(sums[node]);
    line += '\n';
    sink->write(line);
  }
}

}  // namespace heapprof::cli
