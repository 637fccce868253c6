// cli/write/report/threads_text.cc: see report_sections.h. A thread also frees blocks of other threads, so its frees
// are not a part of its allocations.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace heapprof::cli {

namespace {

void add(Thread* sum, const Thread& thread) {
  sum->allocations = add_saturating(sum->allocations, thread.allocations);
  sum->total_bytes = add_saturating(sum->total_bytes, thread.total_bytes);
  sum->frees = add_saturating(sum->frees, thread.frees);
}

}  // namespace

uint64_t count_threads(const RunInfo& run) { return add_saturating(run.threads.size(), run.other_threads_count); }

std::string threads_text(const Profile& profile, const ThreadsLook& look) {
  constexpr size_t kNarrow = 60;  // columns below which there is no room for frees
  constexpr size_t kGap = 2;
  const RunInfo& run = profile.run;
  Thread all = run.other_threads;
  for (const Thread& thread : run.threads) add(&all, thread);
  const size_t shown = std::min(run.threads.size(), look.top);
  Thread rest = run.other_threads;
  for (size_t i = shown; i < run.threads.size(); ++i) add(&rest, run.threads[i]);
  const uint64_t rest_count = count_threads(run) - shown;

  using Row = std::array<std::string, 5>;
  const bool is_narrow = look.columns < kNarrow;
  std::vector<Row> rows = {{"total", "share", is_narrow ? "allocs" : "allocations", "frees", "thread"}};
  const auto add_row = [&](const Thread& thread, std::string name) {
    rows.push_back({look.exact_bytes ? format_bytes_exact(thread.total_bytes) : format_bytes(thread.total_bytes),
                    format_percent({thread.total_bytes, all.total_bytes}), format_count(thread.allocations),
                    format_count(thread.frees), std::move(name)});
  };
  for (size_t i = 0; i < shown; ++i) {
    const Thread& thread = run.threads[i];
    add_row(thread,
            fmt::format("{} ({})", thread.name.empty() ? "[no name]" : escape_controls(thread.name), thread.id));
  }
  if (rest_count > 0) add_row(rest, fmt::format("{} more", format_count(rest_count)));

  std::array<size_t, 5> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < 4; ++i) {
      if (i != 3 || !is_narrow) line += pad_left(row[i], widths[i]) + std::string(kGap, ' ');
    }
    const size_t used = display_width(line);
    text += line + shorten_middle(row[4], look.columns > used + 4 ? look.columns - used : 4) + "\n";
  }
  return text;
}

}  // namespace heapprof::cli
