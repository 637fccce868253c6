// cli/symbolize/die_names.cc: an inlined copy names its function by DW_AT_abstract_origin, a definition its declaration by
// DW_AT_specification; both may follow each other, and lead into other units and into dwz's supplement.
#include "cli/symbolize/die_names.h"

#include "cli/symbolize/symbolizer.h"

#include <dwarf.h>

#include <cstring>

namespace heapprof::cli {
namespace {

constexpr int kMaxChain = 16;

const char* string_of(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute memory;
  Dwarf_Attribute* found = dwarf_attr(die, attribute, &memory);
  return found == nullptr ? nullptr : dwarf_formstring(found);
}

bool follow(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute memory;
  Dwarf_Die target;
  Dwarf_Attribute* found = dwarf_attr(die, attribute, &memory);
  if (found == nullptr || dwarf_formref_die(found, &target) == nullptr) return false;
  *die = target;
  return true;
}

}  // namespace

const DieName& DieNames::name(Dwarf_Die die) {
  auto [entry, is_new] = by_die_.try_emplace(die.addr);
  DieName& result = entry->second;
  if (!is_new) return result;
  const char* plain = nullptr;
  for (int steps = 0; steps < kMaxChain; ++steps) {
    const char* linkage = string_of(&die, DW_AT_linkage_name);
    if (linkage == nullptr) linkage = string_of(&die, DW_AT_MIPS_linkage_name);
    if (linkage != nullptr && linkage[0] != '\0') {
      result.text = demangle(linkage);
      result.is_linkage = true;
      return result;
    }
    if (plain == nullptr) plain = string_of(&die, DW_AT_name);
    if (!follow(&die, DW_AT_abstract_origin) && !follow(&die, DW_AT_specification)) break;
  }
  if (plain != nullptr) result.text = plain;
  return result;
}

}  // namespace heapprof::cli
