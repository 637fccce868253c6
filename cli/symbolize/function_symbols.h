// cli/symbolize/function_symbols.h: the functions of an ELF symbol table, by address: the fallback if DWARF is missing.
//
// Guarantees
//  - A symbol covers the addresses inside its size. One without a size (hand-written assembly) reaches to the next
//    symbol or the end of its section, but only in a full .symtab: in .dynsym the next symbol may be any number of
//    functions away.
//  - Among several names at one address a global or weak one wins, then the one with fewer leading underscores, then
//    the shortest.
#pragma once

#include "cli/symbolize/unit_index.h"

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

struct FunctionSymbol {
  uint64_t low;  // svma
  uint64_t high;
  const char* name;  // as in the table, mangled; lives as long as the module
  bool is_local;
  bool is_indirect = false;  // an ifunc: its code only chooses the function
};

class FunctionSymbols {
 public:
  FunctionSymbols(Dwfl_Module* module, const std::vector<AddressRange>& executable,
                  const std::vector<AddressRange>& sections);

  // Null if no function is known to cover the address.
  const FunctionSymbol* find(uint64_t svma) const;

  // Whether the module defines the symbol that other modules call by this name.
  bool has_global(const char* name);
  const FunctionSymbol* find_global(const char* name);  // null: no such symbol, or several

  bool empty() const { return symbols_.empty(); }
  bool has_ada() const { return has_ada_; }  // GNAT linked the module: it calls GNAT's runtime, or it is that runtime

 private:
  void index_names();
  void add(const GElf_Sym& symbol, uint64_t svma, const char* name);
  void close_open_ends(const std::vector<AddressRange>& sections);

  std::vector<FunctionSymbol> symbols_;                                  // sorted by low, better ones later
  std::vector<uint64_t> highest_end_;                                    // as in UnitIndex
  std::unordered_map<std::string_view, const FunctionSymbol*> by_name_;  // made at first need; null: several
  bool has_names_ = false;
  bool has_full_table_ = false;
  bool has_ada_ = false;
};

}  // namespace heapprof::cli
