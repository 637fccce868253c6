// cli/write/report/operators_text.cc: a row for each operator with its memory on the host, and below it, a row for each
// other device on which it had memory.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/operators.h"
#include "cli/model/profile/site_numbers.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/report/scopes/scope_rows.h"
#include "cli/write/report/scopes/scopes_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kMostOperators = 30;

ScopeMemory memory_on(const std::string& device, const std::vector<ScopeMemory>& memory) {
  for (const ScopeMemory& of_device : memory) {
    if (of_device.device == device) return of_device;
  }
  return {};
}

bool has_any(const ScopeMemory& memory) { return memory.allocated_blocks != 0 || memory.freed_blocks != 0; }

}  // namespace

std::string operators_text(const Profile& profile, const ScopesLook& look) {
  std::vector<OperatorSum> sums = sum_operators(profile.scopes);
  if (sums.empty()) return "";
  if (look.stable)
    std::stable_sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto bytes = [&look](uint64_t value) {
    return look.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  const bool has_times = !look.stable;
  ScopeRow head = {"count", "allocated", "backward", "allocated", "operator"};
  if (has_times) head.insert(head.begin() + 1, "own time");
  if (has_times) head.insert(head.end() - 2, "time");
  std::vector<ScopeRow> rows = {std::move(head)};
  const auto add_row = [&](const OperatorSum& sum, const std::string& device, bool is_first) {
    const ScopeMemory own = memory_on(device, sum.memory), backward = memory_on(device, sum.backward_memory);
    if (!is_first && !has_any(own) && !has_any(backward)) return;
    const bool has_backward = sum.backward_begun != 0;
    ScopeRow row = {is_first ? format_count(sum.begun) : ""};
    if (has_times) row.push_back(is_first ? format_time(sum.own_time_ns) : "");
    row.push_back(bytes(own.allocated_bytes));
    row.push_back(is_first && has_backward ? format_count(sum.backward_begun) : "");
    if (has_times) row.push_back(is_first && has_backward ? format_time(sum.backward_time_ns) : "");
    row.push_back(has_backward ? bytes(backward.allocated_bytes) : "");
    row.push_back(is_first ? escape_controls(sum.name) : "  on " + escape_controls(device));
    rows.push_back(std::move(row));
  };
  const size_t shown = std::min(sums.size(), kMostOperators);
  for (size_t i = 0; i < shown; ++i) {
    add_row(sums[i], "host", true);
    for (const Device& device : profile.devices) {
      if (device.name != "host") add_row(sums[i], device.name, false);
    }
  }
  std::string text =
      fmt::format("\nOPERATORS  of PyTorch: {} by name, with the backward pass for each\n", format_count(sums.size()));
  text += lay_out_rows(rows, look.columns);
  if (sums.size() > shown)
    text += fmt::format("and {} (--format json)\n", format_counted(sums.size() - shown, "further operator"));
  return text;
}

}  // namespace heapprof::cli
