// cli/symbolize/unit_frames.h: the frames at some addresses of one compilation unit.
//
// One walk over the unit serves all its addresses: each function and each inlined copy is added to the addresses it
// covers, so that no tree has to be built and searched.
//
// Guarantees
//  - The innermost frame comes first. It has the file and line of the line table; each outer frame has the file and
//    line of its call of the next inner frame.
// Trust:    see die_reader.h; no recursion, and no loop that the file controls.
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
  uint64_t function_bytes = 0;      // size of the function found, to choose between units; 0: no function found
  bool has_bare_name = false;       // the outermost frame's name lacks its parameters
  uint64_t function_low = 0;        // start of the function; from its symbol, if function_bytes is 0
  CallKeys call;                    // of that function, and of the function called at the address
};

// What is kept while the units of one module are read.
struct UnitReading {
  DieShapesCache shapes;
  DieNames names{&shapes};
  std::string missing_unit;                                 // the first missing .dwo file of a skeleton
  std::unordered_map<const void*, uint64_t> function_keys;  // by the entry's address in memory
};

// lines: the unit's first entry, which has the line table and the folder. entries: the first of the entries to be read:
// the same one or, for a skeleton, the first one of its .dwo file, if that exists.
struct UnitParts {
  Dwarf_Die entries{};
  Dwarf_Die lines{};
  std::string missing_file;  // the .dwo file, if it is missing
};
UnitParts find_parts(const Dwarf_Die& unit);

// unit: as UnitIndex found it; a skeleton refers to its .dwo file. addresses: sorted, distinct.
std::vector<UnitFrames> read_unit_frames(Dwarf_Die unit, std::span<const uint64_t> addresses,
                                         const std::vector<AddressRange>& executable, UnitReading* reading);

}  // namespace heapprof::cli
