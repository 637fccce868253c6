// cli/write/report/sizes_text.cc: a place explains itself by its sizes: a million nodes of 64 bytes are another matter
// than one table that grew.
#include "cli/write/report/sizes_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/profile/site_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace heapprof::cli {
namespace {

struct Class {
  uint64_t blocks = 0;
  int bucket = 0;
};

std::vector<Class> used_classes(const SizeHistogram& sizes) {
  std::vector<Class> used;
  for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
    if (const uint64_t blocks = sizes[static_cast<size_t>(bucket)]; blocks > 0) used.push_back({blocks, bucket});
  }
  return used;
}

}  // namespace

std::string sizes_text(const PlaceNumbers& numbers, bool exact_bytes, size_t columns) {
  if (!has_sizes(numbers)) return "";
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  if (numbers.smallest_bytes == numbers.largest_bytes)
    return numbers.total_blocks == 1 ? "one block of " + bytes(numbers.largest_bytes)
                                     : "blocks of " + bytes(numbers.largest_bytes) + " each";
  std::string range = "blocks of " + bytes(numbers.smallest_bytes) + " to " + bytes(numbers.largest_bytes);
  if (display_width(range) > columns) range.erase(0, range.find(bytes(numbers.smallest_bytes)));
  const std::vector<Class> used = used_classes(numbers.sizes);
  if (used.size() < 2) return range;
  const auto text_of = [&](const std::vector<Class>& classes) {
    std::string text = range;
    for (const Class& it : classes) {
      text += (&it == &classes.front() ? ": " : ", ") + format_count(it.blocks);
      const std::optional<uint64_t> most = size_bucket_most(it.bucket);
      text += most ? " to " + bytes(*most) : " above";
    }
    return text + (classes.size() < used.size() ? ", …" : "");
  };
  // By size, as long as there is room for all; else without the least frequent ones.
  std::vector<Class> shown = used;
  while (shown.size() > 1 && display_width(text_of(shown)) > columns) {
    shown.erase(std::min_element(shown.begin(), shown.end(),
                                 [](const Class& a, const Class& b) { return a.blocks < b.blocks; }));
  }
  const std::string text = text_of(shown);
  return display_width(text) > columns ? range : text;
}

}  // namespace heapprof::cli
