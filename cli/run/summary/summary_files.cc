// cli/run/summary/summary_files.cc: users paste file names, so names are never broken or cut: a cell that does not fit
// is put on the next line. If there are many images and processes, the largest are named, and the others are counted.
#include "cli/run/summary/summary_files.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kShownImages = 2;

// The process with the largest peak, except the program itself, whose profile has a file.
const TreeEntry* largest_other(const ProcessTree* tree, size_t* count) {
  const TreeEntry* largest = nullptr;
  *count = 0;
  if (tree == nullptr) return nullptr;
  for (const TreeEntry& entry : tree->entries()) {
    if (entry.path.empty() || &entry == &tree->entries()[ProcessTree::kRoot]) continue;
    ++*count;
    if (largest == nullptr || largest_peak(entry) > largest_peak(*largest)) largest = &entry;
  }
  return largest;
}

// The profile that is shown instead of the started program's; null: the started program's is shown.
const SavedProfile* shown_other(const SummaryInput& input) {
  return input.shown != nullptr && input.headline->other ? &*input.headline->other : nullptr;
}

// A word, followed by cells. A cell that does not fit is put on the next line; it is not broken, because file names are
// pasted.
std::string entry(const std::string& front, const std::vector<std::string>& cells, size_t columns) {
  std::string text;
  std::string line = front;
  for (const std::string& cell : cells) {
    const bool is_first = line.size() == front.size();
    if (!is_first && display_width(line) + 2 + display_width(cell) > columns) {
      text += line + "\n";
      line = std::string(front.size(), ' ') + cell;
    } else {
      line += (is_first ? "" : "  ") + cell;
    }
  }
  return text + line + "\n";
}

}  // namespace

const std::string& shown_file(const SummaryInput& input) {
  const SavedProfile* other = shown_other(input);
  return other != nullptr ? other->path : input.file;
}

std::string saved_lines(const SummaryInput& input, bool utf8, size_t columns) {
  const std::string file = pasted_file(input.file, utf8);
  std::string text;
  std::vector<const SavedProfile*> images;
  for (const SavedProfile& image : input.images) {
    if (!image.path.empty()) images.push_back(&image);
  }
  std::stable_sort(images.begin(), images.end(),
                   [](const SavedProfile* a, const SavedProfile* b) { return a->peak_bytes > b->peak_bytes; });
  for (size_t i = 0; i < std::min(images.size(), kShownImages); ++i) {
    const SavedProfile& image = *images[i];
    text += entry("image  ",
                  {pasted_file(image.path, utf8), fmt::format("peak {}", format_bytes(image.peak_bytes)),
                   short_command(image.command, image.title, std::min<size_t>(columns - 8, 40))},
                  columns);
  }
  if (images.size() > kShownImages) text += fmt::format("image  + {} smaller\n", images.size() - kShownImages);
  size_t others = 0;
  const SavedProfile* other = shown_other(input);
  if (other != nullptr) {
    text += entry("shown  ",
                  {pasted_file(other->path, utf8), format_bytes(other->size_bytes),
                   format_counted(other->lost, "event") + " lost"},
                  columns);
  } else if (const TreeEntry* largest = largest_other(input.tree, &others)) {
    const std::string which = fmt::format("the largest of {} others", format_count(others));
    text += others == 1 ? entry("also   ", {pasted_file(largest->path, utf8)}, columns)
                        : entry("also   ", {pasted_file(largest->path, utf8), which}, columns);
  }
  text +=
      entry("saved  ",
            {file, format_bytes(input.file_bytes), format_counted(input.profile.run.counters.lost, "event") + " lost"},
            columns);
  text += command_line("next   ", "heapprof report", other != nullptr ? pasted_file(other->path, utf8) : file, columns);
  if (!input.profile.scopes.empty()) text += command_line("       ", "heapprof report --scopes", file, columns);
  return text;
}

}  // namespace heapprof::cli
