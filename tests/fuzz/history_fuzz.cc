// tests/fuzz/history_fuzz.cc: any bytes as a history: its entries are written and read again to the same lines, and are
// shown.
#include "cli/model/judge/history_series.h"
#include "cli/read/read_history.h"
#include "cli/write/history/append_history.h"
#include "cli/write/history/formats.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace heapprof::cli;

namespace {

std::string lines_of(const History& history) {
  std::string lines;
  for (const HistoryEntry& entry : history.entries) lines += history_line(entry);
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  TextSource source(std::string_view(reinterpret_cast<const char*>(data), size));
  const Result<History> first = read_history(&source, "input");
  if (!first) std::abort();  // a broken line is a warning
  if (first->warnings.size() > first->lines_skipped) std::abort();
  const std::string once = lines_of(*first);
  TextSource again(once);
  const Result<History> second = read_history(&again, "again");
  if (!second || second->lines_skipped != 0 || lines_of(*second) != once) std::abort();
  HistoryView view;
  view.file = "input";
  view.entries = &second->entries;
  view.series = find_series(second->entries, {});
  render_history_text(view, {});
  render_history_json(view, {});
  return 0;
}
