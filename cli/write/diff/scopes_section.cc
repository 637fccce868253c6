// cli/write/diff/scopes_section.cc: see scopes_section.h.
//
// If only one of the two profiles has scopes, they cannot be compared: a program that began only recently to name its
// operations has not changed in each of them. In this case, text and Markdown say how many scopes there are; JSON and
// CSV list them all.
#include "cli/write/diff/scopes_section.h"

#include "cli/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heapprof::cli {
namespace {

bool is_memory(ScopeField field) {
  return field >= ScopeField::kAllocatedBytes && field <= ScopeField::kPeakInsideBytes;
}

std::string field_word(const ScopeNumber& number) {
  switch (number.field) {
    case ScopeField::kBegun: return "count";
    case ScopeField::kItems: return "items";
    case ScopeField::kTime: return "time";
    case ScopeField::kTimePerRun: return "time per run";
    case ScopeField::kAllocatedBytes: return "allocated";
    case ScopeField::kAllocatedBlocks: return "blocks";
    case ScopeField::kKeptBytes: return "kept";
    case ScopeField::kPeakInsideBytes: return "peak inside";
    case ScopeField::kKernelLaunches: return "kernel launches per run";
    case ScopeField::kCalls: return (number.of.empty() ? "other calls" : escape_controls(number.of)) + " per run";
  }
  return "";
}

uint64_t unsigned_of(int64_t value) { return value < 0 ? 0 : static_cast<uint64_t>(value); }

// The numbers may be negative, so the returned change has only the right amount and direction.
Change change_of(const ScopeNumber& number) {
  const bool is_growth = number.value[kCurrent] > number.value[kBase];
  return is_growth ? Change{0, number.amount()} : Change{number.amount(), 0};
}

std::string bytes_text(uint64_t value, const DiffView& view) {
  return view.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
}
std::string bytes_change(const Change& change, const DiffView& view) {
  return view.exact_bytes ? format_change_bytes_exact(change) : format_change_bytes(change);
}

std::string with_sign(const Change& change, const std::string& amount) {
  return (change.is_growth() ? "+" : "−") + amount;
}

std::string value_text(const ScopeNumber& number, Side side, const DiffView& view) {
  const int64_t value = number.value[side];
  const uint64_t positive = unsigned_of(value);
  if (is_per_run(number.field)) return format_average({positive, number.runs[side]});
  if (is_time(number.field)) return format_time(positive);
  if (number.field == ScopeField::kKeptBytes)
    return bytes_change(value < 0 ? Change{0 - static_cast<uint64_t>(value), 0} : Change{0, positive}, view);
  return is_in_bytes(number.field) ? bytes_text(positive, view) : format_count(positive);
}

// Writes both averages as numerators of the common denominator *runs. Returns false if these do not fit 64 bits.
bool averages(const ScopeNumber& number, Change* change, uint64_t* runs) {
  const uint64_t base_runs = std::max<uint64_t>(number.runs[kBase], 1);
  const uint64_t current_runs = std::max<uint64_t>(number.runs[kCurrent], 1);
  return !__builtin_mul_overflow(unsigned_of(number.value[kBase]), current_runs, &change->base) &&
         !__builtin_mul_overflow(unsigned_of(number.value[kCurrent]), base_runs, &change->current) &&
         !__builtin_mul_overflow(base_runs, current_runs, runs);
}

std::string path_part(const ScopeChange& scope) {
  const std::string name = scope.name.empty() ? "[no name]" : escape_controls(scope.name);
  return scope.category.empty() ? name : escape_controls(scope.category) + ": " + name;
}

}  // namespace

ScopesSection find_scopes(const TwoProfiles& two, const DiffView& view, size_t default_top) {
  const ScopesDiff& diff = two.diff.scopes;
  ScopesSection section;
  for (const uint32_t place : rank_scopes(diff, view.tolerance, view.all)) {
    ChangedScope changed{place, {}};
    for (const ScopeNumber& number : diff.scopes[place].numbers) {
      if (!(view.all ? is_different(number) : is_changed(number, view.tolerance))) continue;
      if (is_memory(number.field) && !view.device.empty() && view.device != number.of) continue;
      changed.numbers.push_back(&number);
    }
    if (!changed.numbers.empty()) section.scopes.push_back(std::move(changed));
  }
  section.shown = std::min(section.scopes.size(), view.top ? *view.top : view.all ? SIZE_MAX : default_top);
  return section;
}

ScopeCells scope_cells(const ScopeChange& scope, const ScopeNumber& number, const DiffView& view) {
  ScopeCells cells;
  cells.number = field_word(number);
  if (is_memory(number.field) && number.of != "host") cells.number += " on " + escape_controls(number.of);
  cells.base = scope.is_in[kBase] ? value_text(number, kBase, view) : "-";
  cells.current = scope.is_in[kCurrent] ? value_text(number, kCurrent, view) : "-";
  if (is_per_run(number.field)) {
    Change change;
    uint64_t runs = 0;
    if (!averages(number, &change, &runs)) return cells;
    cells.change = with_sign(change, format_average({change.amount(), runs}));
    cells.percent = format_change_percent(change);
    return cells;
  }
  const Change change = change_of(number);
  cells.change = is_time(number.field)       ? with_sign(change, format_time(change.amount()))
                 : is_in_bytes(number.field) ? bytes_change(change, view)
                                             : format_change_count(change);
  if (number.value[kBase] >= 0 && number.value[kCurrent] >= 0)
    cells.percent = format_change_percent({unsigned_of(number.value[kBase]), unsigned_of(number.value[kCurrent])});
  return cells;
}

std::string scope_path_text(const ScopesDiff& diff, uint32_t place) {
  std::string text;
  for (const uint32_t at : scope_path(diff, place)) text += (text.empty() ? "" : " > ") + path_part(diff.scopes[at]);
  return text;
}

std::string scopes_title(const ScopesDiff& diff, const ScopesSection& section) {
  if (diff.is_in_both())
    return fmt::format("{} of {} changed", format_count(section.scopes.size()), format_count(diff.scopes.size()));
  const auto count = [&](Side side) { return diff.counts[side] == 0 ? "none" : format_count(diff.counts[side]); };
  return fmt::format("{} in base, {} in current", count(kBase), count(kCurrent));
}

std::vector<std::string> scopes_remarks(const ScopesDiff& diff, const ScopesSection& section) {
  std::vector<std::string> remarks;
  if (!diff.is_in_both()) {
    remarks.push_back("Nothing to compare them with: heapprof report --scopes shows them.");
  } else if (const size_t more = section.scopes.size() - section.shown; more > 0) {
    remarks.push_back(format_counted(more, "further scope") + " changed (--top).");
  }
  constexpr std::array<const char*, 2> kNames = {"base", "current"};
  for (const Side side : kSides) {
    if (diff.lost[side] != 0)
      remarks.push_back(fmt::format("{} of {} not counted for lack of room.", format_counted(diff.lost[side], "begin"),
                                    kNames[side]));
  }
  return remarks;
}

}  // namespace heapprof::cli
