// cli/symbolize/unit_calls.cc: the entries of calls are below their function's, at any depth: in blocks and in inlined
// copies.
#include "cli/symbolize/unit_calls.h"

#include "cli/symbolize/call_sites.h"
#include "cli/symbolize/unit_frames.h"

#include <dwarf.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kMaxCallSteps = 256;  // as in FunctionSymbols

}  // namespace

UnitCalls::UnitCalls(const Dwarf_Die& unit, const std::vector<AddressRange>& executable, DieShapesCache* shapes) {
  struct Open {
    int depth;
    size_t function;  // its index plus one; 0: a function without code
  };
  std::vector<Open> open;
  DieReader reader(find_parts(unit).entries, shapes);
  for (; reader.next(); ++entries_) {
    while (!open.empty() && open.back().depth >= reader.depth()) open.pop_back();
    if (reader.tag() == DW_TAG_subprogram) {
      open.push_back({reader.depth(), 0});
      if (!reader.has_code()) continue;
      Dwarf_Die die = reader.die();
      const std::vector<AddressRange> ranges = code_ranges(&die, executable);
      if (ranges.empty()) continue;
      UnitFunction function{die, ranges.front().low, 0, {}};
      for (const AddressRange& range : ranges) {
        function.bytes += range.high - range.low;
        ranges_.push_back({range, static_cast<uint32_t>(functions_.size())});
      }
      functions_.push_back(std::move(function));
      open.back().function = functions_.size();
    } else if (is_call_site(reader.tag()) && !open.empty() && open.back().function != 0) {
      functions_[open.back().function - 1].calls.push_back(reader.die());
    }
  }
  std::stable_sort(ranges_.begin(), ranges_.end(),
                   [](const Range& a, const Range& b) { return a.range.low < b.range.low; });
  uint64_t highest = 0;
  for (const Range& range : ranges_) highest_end_.push_back(highest = std::max(highest, range.range.high));
}

const UnitFunction* UnitCalls::find(uint64_t address) const {
  const auto at = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                   [](uint64_t value, const Range& range) { return value < range.range.low; });
  const UnitFunction* best = nullptr;
  size_t i = static_cast<size_t>(at - ranges_.begin());
  for (size_t steps = 0; i > 0 && highest_end_[i - 1] > address && steps < kMaxCallSteps; ++steps) {
    --i;
    const UnitFunction& function = functions_[ranges_[i].function];
    if (ranges_[i].range.high > address && (best == nullptr || function.bytes <= best->bytes)) best = &function;
  }
  return best;
}

std::optional<uint64_t> UnitCalls::find_copy(const Dwarf_Die& root) {
  if (!has_copies_) {
    has_copies_ = true;
    for (const UnitFunction& function : functions_) {
      const auto [entry, is_new] = copies_.try_emplace(identify(function.die).root.addr, function.low);
      if (!is_new && entry->second != function.low) entry->second = 0;
    }
  }
  const auto found = copies_.find(root.addr);
  return found == copies_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace heapprof::cli
