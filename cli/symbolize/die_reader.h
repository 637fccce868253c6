// cli/symbolize/die_reader.h: steps through the entries (DIEs) of one compilation unit in the order of the file.
//
// libdw's own dwarf_siblingof reads all children of an entry to find the next one, again at each level (clang writes no
// DW_AT_sibling), and it follows DW_AT_sibling wherever a broken file sends it. A linear walk reads every byte once, so
// it always ends.
//
// Guarantees
//  - Each byte of the unit is read at most once, for any file; the walk stops at the first unknown form.
// Trust:    libdw has checked the abbreviations; every step here stays inside the unit.
// Cost:     about 10 ns an entry.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heapprof::cli {

// The layout of entries with one abbreviation, as a short program that skips their attributes.
struct DieShape {
  enum class Skip : uint8_t { kFixed, kLeb, kString, kBlock1, kBlock2, kBlock4, kBlockLeb, kIndirect };
  struct Step {
    Skip skip;
    uint32_t bytes;  // kFixed: how many
  };
  unsigned tag = 0;  // 0: the table has no such code
  bool has_children = false;
  bool has_code = false;  // low_pc or ranges: it may cover instructions
  bool has_name = false;
  bool has_linkage_name = false;
  std::vector<Step> steps;
};

// All shapes of one abbreviation table, by code. Units of one file often share a table.
struct DieShapes {
  Dwarf* dwarf = nullptr;
  Dwarf_Off abbrev_off = 0;
  uint8_t address_bytes = 0;
  uint8_t offset_bytes = 0;
  Dwarf_Half version = 0;
  std::vector<DieShape> by_code;
};
using DieShapesCache = std::shared_ptr<const DieShapes>;  // the last one used

class DieReader {
 public:
  // unit: the first entry of a unit. cache: kept by the caller between units of one module.
  DieReader(const Dwarf_Die& unit, DieShapesCache* cache);

  // Goes to the next entry, the unit's own first; false at the end.
  bool next();

  unsigned tag() const { return shape_->tag; }
  bool has_code() const { return shape_->has_code; }
  bool has_bare_name() const { return shape_->has_name && !shape_->has_linkage_name; }
  bool has_children() const { return shape_->has_children; }
  int depth() const { return depth_; }  // the unit's entry: 0
  Dwarf_Die die() const;

 private:
  bool skip_attributes();
  bool skip(DieShape::Step step);
  bool advance(uint64_t bytes);
  bool read_leb(uint64_t* value);

  DieShapesCache shapes_;
  Dwarf_CU* unit_ = nullptr;
  const unsigned char* here_ = nullptr;  // the current entry
  const unsigned char* at_ = nullptr;    // the next byte to read
  const unsigned char* end_ = nullptr;
  const DieShape* shape_ = nullptr;
  int depth_ = 0;
  int next_depth_ = 0;
};

}  // namespace heapprof::cli
