// cli/write/history/formats.cc: one line per format.
#include "cli/write/history/formats.h"

namespace heapprof::cli {

std::span<const HistoryFormat> history_formats() {
  static constexpr HistoryFormat kFormats[] = {{"text", render_history_text}, {"json", render_history_json}};
  return kFormats;
}

}  // namespace heapprof::cli
