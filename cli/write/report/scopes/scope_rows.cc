// cli/write/report/scopes/scope_rows.cc: see scope_rows.h.
#include "cli/write/report/scopes/scope_rows.h"

#include "cli/base/text.h"

#include <algorithm>

namespace heapprof::cli {

std::string lay_out_rows(const std::vector<ScopeRow>& rows, size_t columns) {
  constexpr size_t kGap = 2;
  constexpr size_t kLeast = 8;   // for a name, whatever the numbers need
  constexpr size_t kMargin = 4;  // for a name on its own line
  std::vector<size_t> widths(rows.front().size());
  for (const ScopeRow& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const ScopeRow& row : rows) {
    std::string line;
    for (size_t i = 0; i + 1 < row.size(); ++i) line += pad_left(row[i], widths[i]) + std::string(kGap, ' ');
    const size_t used = display_width(line);
    if (columns > used + kLeast) {
      text += line + shorten_middle(row.back(), columns - used) + "\n";
      continue;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    const size_t room = columns > kMargin + kLeast ? columns - kMargin : kLeast;
    text += line + "\n" + std::string(kMargin, ' ') + shorten_middle(row.back(), room) + "\n";
  }
  return text;
}

std::string scope_full_name(const std::string& category, const std::string& name) {
  const std::string text = name.empty() ? "[no name]" : escape_controls(name);
  return category.empty() ? text : escape_controls(category) + ": " + text;
}

}  // namespace heapprof::cli
