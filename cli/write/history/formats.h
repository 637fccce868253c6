// cli/write/history/formats.h: the formats in which a history is shown.
//
// A new format is one file with one function, one line in formats.cc, and one test; scripts/check-help compares --help,
// the man page and the completions with the list.
#pragma once

#include "cli/base/terminal.h"
#include "cli/write/history/history_view.h"

#include <span>
#include <string>

namespace heapprof::cli {

struct HistoryFormat {
  const char* name;  // of --format
  std::string (*render)(const HistoryView& view, const Terminal& terminal);
};
std::span<const HistoryFormat> history_formats();

// A block for each name and device: a line for each metric, and a sentence for each trend change.
std::string render_history_text(const HistoryView& view, const Terminal& terminal);
std::string render_history_json(const HistoryView& view, const Terminal& terminal);

}  // namespace heapprof::cli
