// cli/write/text/fold_text.cc: see fold_text.h.
#include "cli/write/text/fold_text.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"

#include <fmt/format.h>

namespace heapprof::cli {

std::string folded_text(const std::vector<std::string>& names, size_t columns) {
  constexpr size_t kLongestName = 48;
  if (names.empty()) return "";
  const std::string count = fmt::format("{} folded", names.size());
  std::string best = display_width(count + " (--all-frames)") <= columns ? count + " (--all-frames)" : count;
  std::string listed;
  for (size_t i = 0; i < names.size(); ++i) {
    listed += (i == 0 ? "" : ", ") + shorten_function(escape_controls(names[i]), kLongestName);
    const std::string more = i + 1 == names.size() ? "" : fmt::format(", {} more", names.size() - i - 1);
    const std::string text = fmt::format("folded: {}{} (--all-frames)", listed, more);
    if (display_width(text) <= columns) best = text;
    if (display_width(listed) > columns) break;
  }
  return best;
}

}  // namespace heapprof::cli
