// cli/symbolize/unit_calls.h: the functions of one compilation unit and their calls.
//
// Trust:    see die_reader.h.
// Cost:     the unit's entries once; 40 bytes a call. An entry's attributes are read on demand.
#pragma once

#include "cli/symbolize/die_reader.h"
#include "cli/symbolize/unit_index.h"

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

struct UnitFunction {
  Dwarf_Die die;
  uint64_t low = 0;    // start of its first range: the function's number in a module
  uint64_t bytes = 0;  // size of the code
  std::vector<Dwarf_Die> calls;
};

class UnitCalls {
 public:
  UnitCalls(const Dwarf_Die& unit, const std::vector<AddressRange>& executable, DieShapesCache* shapes);

  // The smallest function that has this address; null: no function has it.
  const UnitFunction* find(uint64_t address) const;

  // The number of the function with code whose root is this entry. 0: there are several; nullopt: there is none.
  std::optional<uint64_t> find_copy(const Dwarf_Die& root);

  size_t entries() const { return entries_; }  // how many were walked

 private:
  struct Range {
    AddressRange range;
    uint32_t function;
  };

  std::vector<UnitFunction> functions_;
  std::vector<Range> ranges_;          // sorted by range.low
  std::vector<uint64_t> highest_end_;  // as in UnitIndex
  bool has_copies_ = false;
  std::unordered_map<const void*, uint64_t> copies_;  // by the root's address in memory
  size_t entries_ = 0;
};

}  // namespace heapprof::cli
