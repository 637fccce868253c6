// cli/model/compare/scope_changes.cc: see scope_changes.h.
//
// The scopes of both profiles are merged into one tree of paths. Each number of a scope is identified by its device or
// call, and looked up in both profiles. If only one profile has a number, it is compared with 0. The numbers shown
// include those of inner scopes. But growth in an inner scope would then rank the outermost scope first, so scopes are
// ranked by their own numbers.
#include "cli/model/compare/scope_changes.h"

#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;

int64_t clamped(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

int64_t difference(uint64_t more, uint64_t less) { return more >= less ? clamped(more - less) : -clamped(less - more); }

uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// A number of one profile.
struct Measured {
  ScopeField field;
  const std::string& of;
  int64_t value;
  int64_t own;
};

class ScopeMatcher {
 public:
  void add(Side side, Scopes scopes) {
    sort_scopes(&scopes);  // a file's scopes may be in any order, and repeated
    diff_.counts[side] = scopes.scopes.size();
    diff_.lost[side] = scopes.lost;
    const std::vector<std::vector<ScopeMemory>> memory = memory_with_inner(scopes);
    std::vector<uint32_t> places;
    for (size_t i = 0; i < scopes.scopes.size(); ++i) {
      const Scope& scope = scopes.scopes[i];
      const uint32_t parent = scope.parent == 0 ? 0 : places[scope.parent - 1] + 1;
      places.push_back(place_of(parent, scope));
      ScopeChange* const change = &diff_.scopes[places.back()];
      change->is_in[side] = true;
      change->begun[side] = scope.begun;
      change->ended[side] = scope.ended;
      add_numbers(side, scope, memory[i], change);
    }
  }

  ScopesDiff take() {
    for (ScopeChange& scope : diff_.scopes) {
      std::erase_if(scope.numbers, [](const ScopeNumber& number) {
        return number.value == BySide<int64_t>{} && number.own == BySide<int64_t>{};
      });
      std::stable_sort(scope.numbers.begin(), scope.numbers.end(), is_before);
      for (ScopeNumber& number : scope.numbers) number.runs = is_time(number.field) ? scope.ended : scope.begun;
    }
    return std::move(diff_);
  }

 private:
  // By ScopeField, but with all memory numbers of one device together; devices in the order of the profiles.
  static bool is_before(const ScopeNumber& a, const ScopeNumber& b) {
    const auto group = [](const ScopeNumber& number) {
      const bool is_memory =
          number.field >= ScopeField::kAllocatedBytes && number.field <= ScopeField::kPeakInsideBytes;
      return is_memory ? ScopeField::kAllocatedBytes : number.field;
    };
    return group(a) < group(b);
  }

  uint32_t place_of(uint32_t parent, const Scope& scope) {
    const auto [entry, is_new] =
        places_.try_emplace({parent, scope.category, scope.name}, static_cast<uint32_t>(diff_.scopes.size()));
    if (is_new) diff_.scopes.push_back({parent, scope.category, scope.name, {}, {}, {}, {}});
    return entry->second;
  }

  static void add_numbers(Side side, const Scope& scope, const std::vector<ScopeMemory>& with_inner,
                          ScopeChange* change) {
    const auto add = [&](ScopeField field, const std::string& of, int64_t value, int64_t own) {
      add_number(side, {field, of, value, own}, change);
    };
    const auto add_count = [&](ScopeField field, const std::string& of, uint64_t value) {
      add(field, of, clamped(value), clamped(value));
    };
    add_count(ScopeField::kBegun, "", scope.begun);
    add_count(ScopeField::kItems, "", scope.items);
    add(ScopeField::kTime, "", clamped(scope.time_ns), clamped(scope.own_time_ns));
    // The average's own part is 0, because the scope is ranked by kTime, the sum from which the average is computed.
    add(ScopeField::kTimePerRun, "", clamped(scope.ended == 0 ? 0 : scope.time_ns / scope.ended), 0);
    for (const ScopeMemory& all : with_inner) {
      const auto found = std::find_if(scope.memory.begin(), scope.memory.end(),
                                      [&](const ScopeMemory& memory) { return memory.device == all.device; });
      const ScopeMemory own = found == scope.memory.end() ? ScopeMemory{} : *found;
      add(ScopeField::kAllocatedBytes, all.device, clamped(all.allocated_bytes), clamped(own.allocated_bytes));
      add(ScopeField::kAllocatedBlocks, all.device, clamped(all.allocated_blocks), clamped(own.allocated_blocks));
      add(ScopeField::kKeptBytes, all.device, difference(all.allocated_bytes, all.freed_bytes),
          difference(own.allocated_bytes, own.freed_bytes));
      add_count(ScopeField::kPeakInsideBytes, all.device, all.peak_inside_bytes);
    }
    add_count(ScopeField::kKernelLaunches, "", scope.kernel_launches);
    for (const ScopeCall& call : scope.calls) add_count(ScopeField::kCalls, call.call, call.count);
  }

  static void add_number(Side side, const Measured& measured, ScopeChange* change) {
    std::vector<ScopeNumber>& numbers = change->numbers;
    auto found = std::find_if(numbers.begin(), numbers.end(), [&](const ScopeNumber& known) {
      return known.field == measured.field && known.of == measured.of;
    });
    if (found == numbers.end()) {
      found = numbers.insert(numbers.end(), {measured.field, measured.of, {}, {}, {}});
    }
    found->value[side] = measured.value;
    found->own[side] = measured.own;
  }

  ScopesDiff diff_;
  std::map<std::tuple<uint32_t, std::string, std::string>, uint32_t> places_;
};

bool is_time_changed(const ScopeNumber& number, const Tolerance& tolerance) {
  const auto base = magnitude(number.value[kBase]);
  const auto exceeds = [&](const Ratio& share) {
    return Wide{number.amount()} * share.whole > Wide{base} * share.part;
  };
  if (!exceeds(kLeastTimeShare) || !exceeds(tolerance.share)) return false;
  if (number.field == ScopeField::kTime) return number.amount() > kLeastTimeNs;
  // If a profile lacks the scope, or the scope never ended there, the average does not count as changed.
  const uint64_t runs = std::min(number.runs[kBase], number.runs[kCurrent]);
  return Wide{number.amount()} * runs > kLeastTimeNs;
}

}  // namespace

const char* scope_field_name(ScopeField field) {
  switch (field) {
    case ScopeField::kBegun: return "begun_count";
    case ScopeField::kItems: return "items_count";
    case ScopeField::kTime: return "time_ns";
    case ScopeField::kTimePerRun: return "time_per_run_ns";
    case ScopeField::kAllocatedBytes: return "allocated_bytes";
    case ScopeField::kAllocatedBlocks: return "allocated_count";
    case ScopeField::kKeptBytes: return "kept_bytes";
    case ScopeField::kPeakInsideBytes: return "peak_inside_bytes";
    case ScopeField::kKernelLaunches: return "kernel_launches_count";
    case ScopeField::kCalls: return "calls_count";
  }
  return "";
}

ScopesDiff diff_scopes(const Scopes& base, const Scopes& current) {
  ScopeMatcher matcher;
  matcher.add(kBase, base);
  matcher.add(kCurrent, current);
  return matcher.take();
}

bool is_different(const ScopeNumber& number) {
  if (!is_per_run(number.field)) return number.value[kBase] != number.value[kCurrent];
  if (number.runs[kBase] == 0 || number.runs[kCurrent] == 0) return number.value[kBase] != number.value[kCurrent];
  return Wide{magnitude(number.value[kBase])} * number.runs[kCurrent] !=
         Wide{magnitude(number.value[kCurrent])} * number.runs[kBase];
}

bool is_changed(const ScopeNumber& number, const Tolerance& tolerance) {
  return is_time(number.field) ? is_time_changed(number, tolerance) : is_different(number);
}

std::vector<uint32_t> rank_scopes(const ScopesDiff& diff, const Tolerance& tolerance, bool all) {
  std::map<std::pair<ScopeField, std::string>, uint64_t> most;
  for (const ScopeChange& scope : diff.scopes) {
    for (const ScopeNumber& number : scope.numbers) {
      uint64_t& largest = most[{number.field, number.of}];
      for (const Side side : kSides) largest = std::max(largest, magnitude(number.value[side]));
    }
  }
  struct Weight {
    Ratio share = {0, 1};
    size_t depth = 0;
  };
  std::vector<Weight> weights(diff.scopes.size());
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < diff.scopes.size(); ++i) {
    const ScopeChange& scope = diff.scopes[i];
    weights[i].depth = scope.parent == 0 ? 0 : weights[scope.parent - 1].depth + 1;
    bool is_listed = false;
    for (const ScopeNumber& number : scope.numbers) {
      if (!(all ? is_different(number) : is_changed(number, tolerance))) continue;
      is_listed = true;
      const Ratio share = {number.own_amount(), std::max<uint64_t>(most[{number.field, number.of}], 1)};
      if (Wide{share.part} * weights[i].share.whole > Wide{weights[i].share.part} * share.whole)
        weights[i].share = share;
    }
    if (is_listed) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Weight& left = weights[a];
    const Weight& right = weights[b];
    const Wide left_share = Wide{left.share.part} * right.share.whole;
    const Wide right_share = Wide{right.share.part} * left.share.whole;
    return std::pair(left_share, left.depth) > std::pair(right_share, right.depth);
  });
  return order;
}

std::vector<uint32_t> scope_path(const ScopesDiff& diff, uint32_t place) {
  std::vector<uint32_t> path = {place};
  while (diff.scopes[path.back()].parent != 0) path.push_back(diff.scopes[path.back()].parent - 1);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace heapprof::cli
