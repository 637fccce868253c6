// cli/write/export/go_heap_text.cc: the text of Go's endpoints with debug=1. Like Go's, the first line of each stack
// has the format of tcmalloc's old heap profiles; text after a '#' is for people. Addresses are those in the module's
// file, so addresses of two modules may be equal; the names beside them tell which function is meant.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/export/pprof.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heapprof::cli {

namespace {

struct Sums {
  uint64_t live_blocks = 0;
  uint64_t live_bytes = 0;
  uint64_t total_blocks = 0;
  uint64_t total_bytes = 0;
};

struct HeapRow {
  const GoHeapPart* part;
  const Site* site;
};

Sums sums_of(const HeapRow& row) {
  const SiteNumbers& numbers = row.site->numbers;
  return {numbers.leaked_blocks, numbers.leaked_bytes, numbers.total_blocks, numbers.total_bytes};
}

std::string head_of(const Sums& sums) {
  return fmt::format("{}: {} [{}: {}] @", sums.live_blocks, sums.live_bytes, sums.total_blocks, sums.total_bytes);
}

}  // namespace

void write_go_heap_text(std::span<const GoHeapPart> parts, ByteSink* sink) {
  std::vector<HeapRow> rows;
  Sums all;
  for (const GoHeapPart& part : parts) {
    for (const Site& site : part.device->sites) {
      rows.push_back({&part, &site});
      const Sums sums = sums_of(rows.back());
      all = {add_saturating(all.live_blocks, sums.live_blocks), add_saturating(all.live_bytes, sums.live_bytes),
             add_saturating(all.total_blocks, sums.total_blocks), add_saturating(all.total_bytes, sums.total_bytes)};
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const HeapRow& a, const HeapRow& b) {
    return a.site->numbers.leaked_bytes > b.site->numbers.leaked_bytes;
  });
  sink->write("heap profile: " + head_of(all) + " heapprofile\n");
  for (const HeapRow& row : rows) {
    const Profile& profile = *row.part->profile;
    std::string line = head_of(sums_of(row));
    std::string words = row.site->node == 0 ? fmt::format("#\t{}\n", kNoStackText) : "";
    for (uint32_t node = row.site->node; node != 0; node = profile.nodes[node].parent) {
      const Frame& frame = profile.frames[profile.nodes[node].frame];
      if (!frame.inlined) line += fmt::format(" {:#x}", frame.svma);
      words += fmt::format("#\t{:#x}\t{}", frame.svma, escape_controls(frame_label(profile, frame)));
      if (!frame.file.empty()) words += fmt::format("\t{}:{}", escape_controls(frame.file), frame.line);
      words += '\n';
    }
    std::string labels = "# device=" + escape_controls(row.part->device->name);
    for (const auto& [key, text] : row.part->labels) labels += fmt::format(" {}={}", key, escape_controls(text));
    sink->write(line + "\n" + labels + "\n" + words + "\n");
  }
}

}  // namespace heapprof::cli
