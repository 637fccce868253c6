// cli/symbolize/die_reader.cc: attribute sizes by form, from the DWARF 5 standard, section 7.5.6, and GNU's extensions.
#include "cli/symbolize/die_reader.h"

#include <dwarf.h>

#include <cstring>
#include <optional>

namespace heapprof::cli {
namespace {

using Skip = DieShape::Skip;
using Step = DieShape::Step;

// Codes are small and dense in all producers' tables; a table with larger ones is not read.
constexpr unsigned kMaxCode = 1 << 20;
constexpr size_t kMaxAttributes = 1024;

std::optional<Step> step_of(uint64_t form, uint8_t address_bytes, uint8_t offset_bytes, Dwarf_Half version) {
  switch (form) {
    case DW_FORM_addr: return Step{Skip::kFixed, address_bytes};
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const: return Step{Skip::kFixed, 0};
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1: return Step{Skip::kFixed, 1};
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2: return Step{Skip::kFixed, 2};
    case DW_FORM_strx3:
    case DW_FORM_addrx3: return Step{Skip::kFixed, 3};
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4: return Step{Skip::kFixed, 4};
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sup8:
    case DW_FORM_ref_sig8: return Step{Skip::kFixed, 8};
    case DW_FORM_data16: return Step{Skip::kFixed, 16};
    case DW_FORM_ref_addr: return Step{Skip::kFixed, version <= 2 ? address_bytes : offset_bytes};
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt: return Step{Skip::kFixed, offset_bytes};
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index: return Step{Skip::kLeb, 0};
    case DW_FORM_string: return Step{Skip::kString, 0};
    case DW_FORM_block1: return Step{Skip::kBlock1, 0};
    case DW_FORM_block2: return Step{Skip::kBlock2, 0};
    case DW_FORM_block4: return Step{Skip::kBlock4, 0};
    case DW_FORM_block:
    case DW_FORM_exprloc: return Step{Skip::kBlockLeb, 0};
    case DW_FORM_indirect: return Step{Skip::kIndirect, 0};
    default: return std::nullopt;
  }
}

// False if an attribute has a form of unknown size: entries of this shape cannot be skipped.
bool read_shape(Dwarf_Abbrev* abbrev, const DieShapes& table, DieShape* shape) {
  shape->has_children = dwarf_abbrevhaschildren(abbrev) != 0;
  // dwarf_getattrcnt (elfutils 0.188) stops at an implicit constant of value 0, so attributes are read until the last
  // one.
  for (size_t i = 0; i < kMaxAttributes; ++i) {
    unsigned name = 0;
    unsigned form = 0;
    if (dwarf_getabbrevattr_data(abbrev, i, &name, &form, nullptr, nullptr) != 0) return true;
    if (name == DW_AT_low_pc || name == DW_AT_ranges) shape->has_code = true;
    if (name == DW_AT_name) shape->has_name = true;
    if (name == DW_AT_linkage_name || name == DW_AT_MIPS_linkage_name) shape->has_linkage_name = true;
    std::optional<Step> step = step_of(form, table.address_bytes, table.offset_bytes, table.version);
    if (!step) return false;
    if (step->skip == Skip::kFixed && !shape->steps.empty() && shape->steps.back().skip == Skip::kFixed) {
      shape->steps.back().bytes += step->bytes;
    } else {
      shape->steps.push_back(*step);
    }
  }
  return false;
}

void read_shapes(Dwarf_Die* unit, DieShapes* table) {
  Dwarf_Off position = 0;
  while (true) {
    size_t size_bytes = 0;
    Dwarf_Abbrev* abbrev = dwarf_getabbrev(unit, position, &size_bytes);
    if (abbrev == nullptr || abbrev == DWARF_END_ABBREV || size_bytes == 0) return;
    position += size_bytes;
    unsigned code = dwarf_getabbrevcode(abbrev);
    if (code == 0 || code > kMaxCode) continue;
    DieShape shape;
    if (!read_shape(abbrev, *table, &shape)) continue;
    shape.tag = dwarf_getabbrevtag(abbrev);
    if (table->by_code.size() <= code) table->by_code.resize(code + 1);
    table->by_code[code] = std::move(shape);
  }
}

}  // namespace

DieReader::DieReader(const Dwarf_Die& unit, DieShapesCache* cache) : unit_(unit.cu) {
  Dwarf_Die first = unit;
  DieShapes table;
  Dwarf_Die ignored;
  if (dwarf_cu_die(unit_, &ignored, &table.version, &table.abbrev_off, &table.address_bytes, &table.offset_bytes,
                   nullptr, nullptr) == nullptr) {
    return;
  }
  table.dwarf = dwarf_cu_getdwarf(unit_);
  if (!*cache || (*cache)->dwarf != table.dwarf || (*cache)->abbrev_off != table.abbrev_off ||
      (*cache)->address_bytes != table.address_bytes || (*cache)->offset_bytes != table.offset_bytes ||
      (*cache)->version != table.version) {
    read_shapes(&first, &table);
    *cache = std::make_shared<const DieShapes>(std::move(table));
  }
  shapes_ = *cache;
  // The unit's end is the begin of the next one in libdw, which has checked it against the section.
  Dwarf_Off first_off = dwarf_dieoffset(&first);
  Dwarf_Off header_off = first_off - dwarf_cuoffset(&first);
  Dwarf_Off end_off = 0;
  if (dwarf_next_unit(shapes_->dwarf, header_off, &end_off, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                      nullptr) != 0 ||
      end_off <= first_off) {
    return;
  }
  at_ = static_cast<const unsigned char*>(first.addr);
  end_ = at_ + (end_off - first_off);
}

bool DieReader::next() {
  while (at_ != nullptr && at_ < end_) {
    depth_ = next_depth_;
    here_ = at_;
    uint64_t code = 0;
    if (!read_leb(&code)) break;
    if (code == 0) {
      if (--next_depth_ <= 0) break;
      continue;
    }
    if (code >= shapes_->by_code.size() || shapes_->by_code[code].tag == 0) break;
    shape_ = &shapes_->by_code[code];
    if (!skip_attributes()) break;
    if (shape_->has_children) ++next_depth_;
    if (next_depth_ == 0) end_ = at_;  // a unit without children
    return true;
  }
  at_ = end_;
  return false;
}

Dwarf_Die DieReader::die() const {
  // Makes the entry as dwarf_offdie would, without its search for the unit. The abbreviation is left unset, so libdw
  // looks it up at first use.
  Dwarf_Die die;
  std::memset(&die, 0, sizeof die);
  die.addr = const_cast<unsigned char*>(here_);
  die.cu = unit_;
  return die;
}

bool DieReader::advance(uint64_t bytes) {
  if (bytes > static_cast<uint64_t>(end_ - at_)) return false;
  at_ += bytes;
  return true;
}

bool DieReader::read_leb(uint64_t* value) {
  uint64_t result = 0;
  unsigned shift = 0;
  while (at_ < end_) {
    unsigned char byte = *at_++;
    if (shift < 64) result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) == 0) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool DieReader::skip(Step step) {
  uint64_t value = 0;
  uint32_t length = 0;
  switch (step.skip) {
    case Skip::kFixed: return advance(step.bytes);
    case Skip::kLeb: return read_leb(&value);
    case Skip::kString: {
      const void* zero = std::memchr(at_, 0, static_cast<size_t>(end_ - at_));
      if (zero == nullptr) return false;
      at_ = static_cast<const unsigned char*>(zero) + 1;
      return true;
    }
    case Skip::kBlock1:
    case Skip::kBlock2:
    case Skip::kBlock4: {
      size_t width = step.skip == Skip::kBlock1 ? 1 : step.skip == Skip::kBlock2 ? 2 : 4;
      if (static_cast<size_t>(end_ - at_) < width) return false;
      std::memcpy(&length, at_, width);  // little-endian, debug_file.h has checked that
      return advance(width + uint64_t{length});
    }
    case Skip::kBlockLeb: return read_leb(&value) && advance(value);
    case Skip::kIndirect: {
      if (!read_leb(&value)) return false;
      std::optional<Step> real = step_of(value, shapes_->address_bytes, shapes_->offset_bytes, shapes_->version);
      return real && real->skip != Skip::kIndirect && skip(*real);
    }
  }
  return false;
}

bool DieReader::skip_attributes() {
  for (const Step& step : shape_->steps) {
    if (!skip(step)) return false;
  }
  return true;
}

}  // namespace heapprof::cli
