// cli/write/report/tensors_text.cc: first the roles, because readers ask what takes the memory before they ask where;
// then the largest tensors, by the program's names for them.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/tensor_roles.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/report/scopes/scope_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kMostName = 56;  // columns
constexpr const char* kRest = "that Python does not know (saved by operators, or of libraries)";

std::string shown_bytes(uint64_t bytes, const TensorsLook& look) {
  return look.exact_bytes ? format_bytes_exact(bytes) : format_bytes(bytes);
}

std::string roles_table(const TensorRoles& roles, const TensorsLook& look) {
  const uint64_t all_bytes = add_saturating(roles.told_bytes, roles.rest_bytes);
  std::vector<ScopeRow> rows = {{"bytes", "share", "tensors", "role"}};
  const auto add = [&](uint64_t bytes, uint64_t blocks, const std::string& role) {
    if (blocks == 0) return;
    rows.push_back({shown_bytes(bytes, look), all_bytes == 0 ? "" : format_percent({bytes, all_bytes}),
                    format_count(blocks), escape_controls(role)});
  };
  for (const RoleSum& sum : roles.roles) add(sum.bytes, sum.blocks, sum.role);
  add(roles.rest_bytes, roles.rest_blocks, kRest);
  return lay_out_rows(rows, look.columns);
}

std::string name_of(const LargeTensor& tensor) {
  return shorten_middle(escape_controls(tensor.name.empty() ? tensor.role : tensor.name), kMostName);
}

}  // namespace

std::string tensors_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, uint32_t snapshot,
                         const TensorsLook& look) {
  const Snapshot& moment = profile.snapshots.snapshots[snapshot];
  std::string text;
  const std::string when = escape_controls(mark_text(moment));
  for (const TensorRoles& roles : find_tensor_roles(profile, snapshot)) {
    if (!look.device.empty() && look.device != roles.told->device) continue;
    const uint64_t all_bytes = add_saturating(roles.told_bytes, roles.rest_bytes);
    text += fmt::format("\nTENSORS {}  at \"{}\": {}\n", escape_controls(roles.told->device), when,
                        shown_bytes(all_bytes, look));
    text += roles_table(roles, look);
    const std::vector<LargeTensor>& largest = roles.told->largest;
    if (largest.empty()) continue;
    text += fmt::format("the largest {}, and where {} allocated:\n", largest.size() == 1 ? "one" : "ones",
                        largest.size() == 1 ? "it was" : "they were");
    std::vector<CallerChain> chains(largest.size());
    std::vector<PlaceLine> lines;
    size_t widest = 0;
    for (size_t i = 0; i < largest.size(); ++i) {
      const LargeTensor& tensor = largest[i];
      PlaceLine& line = lines.emplace_back(line_of(profile, tree, names, tensor.node, &chains[i]));
      line.numbers = {shown_bytes(tensor.size_bytes, look), name_of(tensor)};
      widest = std::max(widest, display_width(line.numbers.back()));
    }
    for (PlaceLine& line : lines) line.numbers.back() = pad_right(line.numbers.back(), widest);
    size_t function_column = 0;
    for (const std::string& line : lay_out(names, lines, 0, look.columns, &function_column)) text += line + "\n";
  }
  if (moment.lost_tensors != 0)
    text += wrapped(fmt::format("{} of \"{}\" begin where no live block does (parts of others' memory, or files)",
                                format_counted(moment.lost_tensors, "tensor"), when),
                    {0, 2, look.columns}) +
            "\n";
  return text;
}

std::string last_tensors_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                              const TensorsLook& look) {
  const std::vector<Snapshot>& snapshots = profile.snapshots.snapshots;
  for (size_t i = snapshots.size(); i-- > 0;) {
    if (snapshots[i].has_tensors()) return tensors_text(profile, tree, names, static_cast<uint32_t>(i), look);
  }
  return "";
}

}  // namespace heapprof::cli
