// cli/symbolize/unit_frames.h: the frames at some addresses of one compilation unit.
//
// One walk over the unit serves all its addresses: each function and each inlined copy of one adds itself to the
// addresses it covers, so that there is no tree to build and search.
//
// Guarantees
//  - The innermost frame comes first. It has the file and line of the line table; each other frame has those of the
//    call in it.
// Trust:    see die_reader.h; nothing here recurses or loops over what the file says.
// Cost:     the unit's entries once (die_reader.h), its line table once.
#pragma once

#include "cli/model/profile/symbols.h"
#include "cli/symbolize/die_names.h"
#include "cli/symbolize/die_reader.h"
#include "cli/symbolize/unit_index.h"

#include <elfutils/libdw.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

struct UnitFrames {
  std::vector<SourceFrame> frames;  // without a function: at most one frame, with file and line only
  uint64_t function_bytes = 0;      // size of the function found, to choose between units; 0: none found
  bool has_bare_name = false;       // of the outermost frame: without parameters
  uint64_t function_low = 0;        // where the function begins; by its symbol, where function_bytes is 0
  CallKeys call;                    // of that function, and of what is called at the address
};

// What is kept while the units of one module are read.
struct UnitReading {
  DieShapesCache shapes;
  DieNames names{&shapes};
  std::string missing_unit;                                 // the first .dwo file that a skeleton did not lead to
  std::unordered_map<const void*, uint64_t> function_keys;  // by the entry's place in memory
};

// The entries of a unit, and its own first entry, which has the line table and the folder. A skeleton's are in its .dwo
// file, where that is there.
struct UnitParts {
  Dwarf_Die entries{};
  Dwarf_Die lines{};
  std::string missing_file;  // the .dwo file, where it is not there
};
UnitParts find_parts(const Dwarf_Die& unit);

// unit: as UnitIndex found it; a skeleton leads to its .dwo file. addresses: sorted, distinct.
std::vector<UnitFrames> read_unit_frames(Dwarf_Die unit, std::span<const uint64_t> addresses,
                                         const std::vector<AddressRange>& executable, UnitReading* reading);

}  // namespace heapprof::cli
