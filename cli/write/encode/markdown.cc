// cli/write/encode/markdown.cc: by GitHub's rules: CommonMark and tables.
#include "cli/write/encode/markdown.h"

#include "cli/base/text.h"

#include <algorithm>
#include <string_view>

namespace heapprof::cli {

std::string markdown_text(const std::string& text) {
  std::string safe;
  for (const char c : escape_controls(text)) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '@': safe += "&#64;"; break;  // GitHub looks for mentions after it has removed backslashes
      default:
        if (std::string_view("\\`*_[]#~|").find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
  }
  return safe;
}

std::string markdown_code(const std::string& text, Where where) {
  const std::string clean = escape_controls(text);
  if (clean.empty()) return "";
  std::string code;
  size_t longest = 0;  // longest run of backticks: the fence is one longer
  size_t run = 0;
  for (const char c : clean) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|' && where == Where::kCell) code += '\\';
    code += c;
  }
  const std::string fence(longest + 1, '`');
  const char* space = longest > 0 ? " " : "";  // one on each side belongs to the fence
  return fence + space + code + space + fence;
}

}  // namespace heapprof::cli
