// cli/write/estimate/formats.cc: one line per format.
#include "cli/write/estimate/formats.h"

namespace heapprof::cli {

std::span<const EstimateFormat> estimate_formats() {
  static constexpr EstimateFormat kFormats[] = {{"text", render_estimate_text}, {"json", render_estimate_json}};
  return kFormats;
}

}  // namespace heapprof::cli
