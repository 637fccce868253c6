// cli/write/encode/markdown.h: untrusted text in Markdown: nothing in it is treated as markup, a tag, a cell's end or a
// mention.
#pragma once

#include <string>

namespace heapprof::cli {

std::string markdown_text(const std::string& text);
// The text as code. In a table's cell, a bar needs a backslash; elsewhere, the backslash would be shown. An empty text
// stays empty.
enum class Where { kText, kCell };
std::string markdown_code(const std::string& text, Where where = Where::kCell);

}  // namespace heapprof::cli
