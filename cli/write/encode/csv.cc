// cli/write/encode/csv.cc: see csv.h.
#include "cli/write/encode/csv.h"

#include "cli/base/text.h"

#include <string_view>

namespace heapprof::cli {

std::string csv_cell(const std::string& text) {
  std::string clean = escape_controls(text);
  if (!clean.empty() && std::string_view("=+-@").find(clean[0]) != std::string_view::npos) clean.insert(0, 1, '\'');
  if (clean.find_first_of(",\"") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace heapprof::cli
