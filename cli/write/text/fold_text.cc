// cli/write/text/fold_text.cc: see fold_text.h.
#include "cli/write/text/fold_text.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {

std::string folded_text(const std::vector<std::string>& names, size_t columns) {
  constexpr size_t kLongestName = 48;
  if (names.empty()) return "";
  const std::string count = fmt::format("{} folded", names.size());
  std::string best = display_width(count + " (--all-frames)") <= columns ? count + " (--all-frames)" : count;
  std::string listed;
  for (size_t i = 0; i < names.size(); ++i) {
    // The remark after a name is not cut: "grab (a.c, recognised)".
    const std::string name = escape_controls(names[i]);
    const size_t remark = name.ends_with(')') ? std::min(name.rfind(" ("), name.size()) : name.size();
    listed += (i == 0 ? "" : ", ") + shorten_function(name.substr(0, remark), kLongestName) + name.substr(remark);
    const std::string more = i + 1 == names.size() ? "" : fmt::format(", {} more", names.size() - i - 1);
    const std::string text = fmt::format("folded: {}{} (--all-frames)", listed, more);
    if (display_width(text) <= columns) best = text;
    if (display_width(listed) > columns) break;
  }
  return best;
}

}  // namespace heapprof::cli
