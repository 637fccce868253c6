// cli/write/diff/formats.h: the formats of a diff.
//
// A new format is one file with its two functions, one line in formats.cc, and its golden tests; scripts/check-help
// compares --help, the man page and the completions with the list.
#pragma once

#include "cli/base/terminal.h"
#include "cli/write/diff/diff_view.h"

#include <span>
#include <string>

namespace heapprof::cli {

struct DiffFormat {
  const char* name;  // of --format
  std::string (*render)(const TwoProfiles& two, const DiffView& view, const Terminal& terminal);
  std::string (*render_sets)(const TwoSets& two, const DiffView& view, const Terminal& terminal);
};
std::span<const DiffFormat> diff_formats();

std::string render_diff_text(const TwoProfiles& two, const DiffView& view, const Terminal& terminal);
std::string render_diff_json(const TwoProfiles& two, const DiffView& view, const Terminal& terminal);
std::string render_diff_markdown(const TwoProfiles& two, const DiffView& view, const Terminal& terminal);
std::string render_diff_csv(const TwoProfiles& two, const DiffView& view, const Terminal& terminal);
std::string render_sets_text(const TwoSets& two, const DiffView& view, const Terminal& terminal);
std::string render_sets_json(const TwoSets& two, const DiffView& view, const Terminal& terminal);
std::string render_sets_markdown(const TwoSets& two, const DiffView& view, const Terminal& terminal);
std::string render_sets_csv(const TwoSets& two, const DiffView& view, const Terminal& terminal);

}  // namespace heapprof::cli
