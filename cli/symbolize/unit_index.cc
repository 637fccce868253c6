// cli/symbolize/unit_index.cc: a sorted list of ranges, each with the largest end so far, because ranges may overlap.
#include "cli/symbolize/unit_index.h"

#include <dwarf.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

// Overlapping ranges make a search walk backwards. Real files need a few steps, broken ones could need millions.
constexpr size_t kMaxUnitSteps = 4096;
constexpr size_t kMaxRangesOfEntry = 1 << 20;

}  // namespace

std::vector<AddressRange> code_ranges(Dwarf_Die* die, const std::vector<AddressRange>& executable) {
  std::vector<AddressRange> ranges;
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  ptrdiff_t cursor = 0;
  size_t count = 0;
  while ((cursor = dwarf_ranges(die, cursor, &base, &low, &high)) > 0) {
    if (++count > kMaxRangesOfEntry) break;
    if (low >= high) continue;
    bool is_code = std::any_of(executable.begin(), executable.end(),
                               [low](const AddressRange& range) { return range.low <= low && low < range.high; });
    if (is_code) ranges.push_back({low, high});
  }
  return ranges;
}

UnitIndex::UnitIndex(Dwarf* dwarf, std::vector<AddressRange> executable)
    : dwarf_(dwarf), executable_(std::move(executable)) {
  Dwarf_CU* unit = nullptr;
  Dwarf_CU* next = nullptr;
  Dwarf_Half version = 0;
  uint8_t type = 0;
  Dwarf_Die first;
  while (dwarf_get_units(dwarf, unit, &next, &version, &type, &first, nullptr) == 0) {
    unit = next;
    if (type == DW_UT_compile || type == DW_UT_skeleton) add_unit(&first);
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.range.low != b.range.low ? a.range.low < b.range.low : a.unit < b.unit;
  });
  highest_end_.reserve(entries_.size());
  uint64_t highest = 0;
  for (const Entry& entry : entries_) highest_end_.push_back(highest = std::max(highest, entry.range.high));
}

void UnitIndex::add_unit(Dwarf_Die* unit) {
  if (unit->addr == nullptr) return;
  uint32_t number = static_cast<uint32_t>(units_.size());
  units_.push_back(*unit);
  for (const AddressRange& range : code_ranges(unit, executable_)) entries_.push_back({range, number});
}

std::vector<Dwarf_Die> UnitIndex::find(uint64_t address) const {
  std::vector<Entry> found;
  auto at = std::upper_bound(entries_.begin(), entries_.end(), address,
                             [](uint64_t value, const Entry& entry) { return value < entry.range.low; });
  size_t i = static_cast<size_t>(at - entries_.begin());
  for (size_t steps = 0; i > 0 && highest_end_[i - 1] > address && steps < kMaxUnitSteps; ++steps) {
    --i;
    if (entries_[i].range.high > address) found.push_back(entries_[i]);
  }
  std::stable_sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) {
    uint64_t size_a = a.range.high - a.range.low;
    uint64_t size_b = b.range.high - b.range.low;
    return size_a != size_b ? size_a < size_b : a.unit < b.unit;
  });
  std::vector<Dwarf_Die> units;
  for (const Entry& entry : found) {
    if (units.size() == kMaxUnitsOfAddress) break;
    const Dwarf_Die& unit = units_[entry.unit];
    if (std::none_of(units.begin(), units.end(), [&](const Dwarf_Die& other) { return other.addr == unit.addr; })) {
      units.push_back(unit);
    }
  }
  Dwarf_Die unit;
  if (units.empty() && dwarf_addrdie(dwarf_, address, &unit) != nullptr) units.push_back(unit);
  return units;
}

}  // namespace heapprof::cli
