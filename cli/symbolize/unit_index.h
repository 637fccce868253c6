// cli/symbolize/unit_index.h: which compilation units have code at an address.
//
// Built from the ranges that each unit's own entry states. .debug_aranges is used only for addresses without such a
// range: clang does not write it, and a file linked from gcc's and clang's objects has it in part.
//
// Trust:    ranges that begin outside the file's executable segments are dropped: linkers set those of discarded
//           functions to such addresses (0, 1, -1, -2).
// Cost:     construction reads one entry of each unit; find is logarithmic.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct AddressRange {
  uint64_t low;   // first address
  uint64_t high;  // first address after it
};

class UnitIndex {
 public:
  static constexpr size_t kMaxUnitsOfAddress = 4;

  // executable: where code may lie, in the addresses of this DWARF.
  UnitIndex(Dwarf* dwarf, std::vector<AddressRange> executable);

  // The units' first entries, the one with the smallest range first, then in the file's order; at most
  // kMaxUnitsOfAddress. Inline functions are in many units: each unit with a copy claims the one that GNU ld kept,
  // which is the first unit's.
  std::vector<Dwarf_Die> find(uint64_t address) const;

  size_t unit_count() const { return units_.size(); }
  const std::vector<AddressRange>& executable() const { return executable_; }

 private:
  struct Entry {
    AddressRange range;
    uint32_t unit;
  };
  void add_unit(Dwarf_Die* unit);

  Dwarf* dwarf_;
  std::vector<AddressRange> executable_;
  std::vector<Dwarf_Die> units_;
  std::vector<Entry> entries_;         // by range.low
  std::vector<uint64_t> highest_end_;  // highest_end_[i]: the largest range.high of entries_[0..i]
};

// The ranges of one entry that begin in executable code.
std::vector<AddressRange> code_ranges(Dwarf_Die* die, const std::vector<AddressRange>& executable);

}  // namespace heapprof::cli
