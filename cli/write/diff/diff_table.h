// cli/write/diff/diff_table.h: columns and colours for the tables of a diff's text.
#pragma once

#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/write/diff/diff_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heapprof::cli {

inline std::string rtrim(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// Rows of cells. The first `left` cells of each row are left-aligned, the others right-aligned.
struct DiffTable {
  std::vector<std::vector<std::string>> rows;
  size_t left = 0;

  std::vector<std::string> lines() const {
    std::vector<size_t> widths;
    for (const std::vector<std::string>& row : rows) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::vector<std::string> result;
    for (const std::vector<std::string>& row : rows) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        if (i > 0) line += i < left ? " " : "   ";
        line += i < left ? pad_right(row[i], widths[i]) : pad_left(row[i], widths[i]);
      }
      result.push_back(rtrim(line));
    }
    return result;
  }
};

class DiffPaint {
 public:
  explicit DiffPaint(const Terminal& terminal) : colored_(terminal.colored) {}
  std::string bold(const std::string& text) const { return colored_ ? "\x1b[1m" + text + "\x1b[0m" : text; }
  std::string faint(const std::string& text) const { return colored_ ? "\x1b[2m" + text + "\x1b[0m" : text; }
  // The mark after a row that changed beyond its tolerance.
  std::string mark(const MetricRow& row) const {
    if (row.is_within()) return "";
    const char* sign = row.grew() ? "▲" : "▼";
    return fmt::format("  {}", colored_ ? fmt::format("\x1b[{}m{}\x1b[0m", row.grew() ? 31 : 32, sign) : sign);
  }

 private:
  bool colored_;
};

}  // namespace heapprof::cli
