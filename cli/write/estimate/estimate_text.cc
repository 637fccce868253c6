// cli/write/estimate/estimate_text.cc: a sum as on paper: what is taken, what is available, and the answer in words.
// Each number is followed by its source, so that an assumption is not taken for a measurement.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/estimate/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace heapprof::cli {
namespace {

struct EstimateRow {
  std::string label;
  uint64_t bytes = 0;
  std::string remark;
};

std::string factor_text(double factor) {
  std::string text = fmt::format("{:.6f}", factor);
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

std::vector<EstimateRow> memory_rows(const MemoryAtHand& memory) {
  std::vector<EstimateRow> rows;
  if (memory.is_measured()) {
    const std::string context = memory.context_bytes ? ": " + format_bytes(*memory.context_bytes) : "";
    rows.push_back({"free on " + memory.device, memory.free_bytes, "measured, less a context" + context});
  } else {
    rows.push_back({"limit", memory.free_bytes, "assumed to be free; not measured"});
  }
  if (memory.reserve_bytes == 0) return rows;
  rows.push_back({"− reserve", memory.reserve_bytes, ""});
  rows.push_back({"available", memory.available_bytes(), ""});
  return rows;
}

std::string answer(const EstimateResult& result, bool colored) {
  const auto painted = [colored](const char* word, int color) {
    return colored ? fmt::format("\x1b[{}m{}\x1b[0m", color, word) : std::string(word);
  };
  const uint64_t available_bytes = result.memory->available_bytes();
  std::string text =
      result.fits()
          ? painted("fits", 32) + ", " + format_bytes(available_bytes - result.needed_bytes) + " to spare"
          : painted("does not fit", 31) + ", " + format_bytes(result.needed_bytes - available_bytes) + " too much";
  if (!result.largest) return text;
  const LargestInput& largest = *result.largest;
  if (largest.value == UINT64_MAX) return text + fmt::format("; {}: any", largest.words);
  return text + fmt::format("; {}: {}", largest.words, format_count_exact(largest.value));
}

}  // namespace

std::string render_estimate_text(const EstimateResult& result, const Terminal& terminal) {
  const auto columns = static_cast<size_t>(terminal.columns);
  std::vector<EstimateRow> rows = {{estimate_kind_name(result.input.kind), result.bytes, ""},
                                   {"× " + factor_text(result.input.overhead) + " overhead", result.needed_bytes, ""}};
  if (result.memory) {
    for (EstimateRow& row : memory_rows(*result.memory)) rows.push_back(std::move(row));
  }
  size_t label_columns = 0;
  size_t exact_columns = 0;
  for (const EstimateRow& row : rows) {
    label_columns = std::max(label_columns, display_width(row.label));
    exact_columns = std::max(exact_columns, format_bytes_exact(row.bytes).size());
  }
  std::string text;
  for (const EstimateRow& row : rows) {
    std::string line =
        fmt::format("{}  {}  {}", pad_right(row.label, label_columns), pad_left(format_bytes(row.bytes), 8),
                    pad_left(format_bytes_exact(row.bytes), exact_columns));
    if (!row.remark.empty()) line += "   " + row.remark;
    text += fitted(line, columns) + "\n";
    if (&row == &rows[0]) text += fitted("  = " + estimate_formula(result.input), columns) + "\n";
    if (&row == &rows[1] && result.memory) text += "\n";
  }
  if (result.memory) text += "\n" + fitted(answer(result, terminal.colored), columns) + "\n";
  return terminal.utf8 ? text : to_ascii(text);
}

}  // namespace heapprof::cli
