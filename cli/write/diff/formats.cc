// cli/write/diff/formats.cc: one line per format.
#include "cli/write/diff/formats.h"

#include <array>

namespace heapprof::cli {

std::span<const DiffFormat> diff_formats() {
  static constexpr std::array<DiffFormat, 4> kFormats = {{{"text", render_diff_text, render_sets_text},
                                                          {"json", render_diff_json, render_sets_json},
                                                          {"markdown", render_diff_markdown, render_sets_markdown},
                                                          {"csv", render_diff_csv, render_sets_csv}}};
  return kFormats;
}

}  // namespace heapprof::cli
