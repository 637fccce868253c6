// cli/symbolize/die_names.h: the demangled name in a function's entry (DIE); each is looked up once.
//
// Guarantees
//  - A mangled linkage name wins, because it contains namespace, class and parameters. An unmangled one is only a
//    linker label (`__GI_abort`, `parse.lto_priv.0`): then DW_AT_name, the name in the source, wins.
//  - gcc writes no linkage name for a function in an anonymous namespace that it has inlined everywhere: then the
//    namespaces around it are put before the bare name.
//  - A chain of abstract origins and specifications is followed for at most 16 steps.
// Cost:     bare names in a unit that has not been walked (link-time optimisation, dwz) cost one walk over it.
#pragma once

#include "cli/symbolize/die_reader.h"

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heapprof::cli {

struct DieName {
  std::string text;         // empty: no name
  bool is_mangled = false;  // the name was mangled; false: a bare name
};

class DieNames {
 public:
  // Follows one walk over a unit, and records the scope of each function with a bare name.
  class ScopeWalk {
   public:
    explicit ScopeWalk(DieNames* names, Dwarf_CU* unit) : names_(names) { names->walked_.insert(unit); }
    // Call it for each entry of the unit, in order.
    void enter(const DieReader& reader);

   private:
    struct Open {
      int depth;
      uint32_t scope;
    };
    uint32_t innermost() const { return open_.empty() ? kNoScope : open_.back().scope; }

    DieNames* names_;
    std::vector<Open> open_;   // namespaces and classes around the entry, and functions that have classes inside
    Dwarf_Die function_{};     // the last one that began
    int function_depth_ = -1;  // -1: it has ended
  };

  // shapes: see DieReader.
  explicit DieNames(DieShapesCache* shapes) : shapes_(shapes) {}

  // The reference lives as long as this object.
  const DieName& name(Dwarf_Die die) { return name(die, 0); }

 private:
  static constexpr uint32_t kNoScope = 0xffffffff;
  struct Scope {
    Dwarf_Die die;  // a namespace, class or function
    uint32_t outer;
  };
  uint32_t add_scope(const Dwarf_Die& die, uint32_t outer);
  uint32_t scope_of(const Dwarf_Die& die);
  const DieName& name(Dwarf_Die die, int depth);
  std::string prefix(uint32_t scope, const char* plain, int depth);

  DieShapesCache* shapes_;
  std::vector<Scope> scopes_;
  std::unordered_map<const void*, uint32_t> scope_of_;  // scopes of functions with a bare name, by the entry's address
  std::unordered_map<const void*, DieName> names_;      // likewise
  std::unordered_set<Dwarf_CU*> walked_;
};

}  // namespace heapprof::cli
