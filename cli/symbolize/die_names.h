// cli/symbolize/die_names.h: what a function's entry calls it, demangled, each looked up once.
//
// Guarantees
//  - The linkage name wins, because it says namespace, class and parameters; DW_AT_name is second. gcc writes no linkage name
//    for a function of an anonymous namespace that it has inlined everywhere: the namespaces around it are then put before
//    the bare name, where the walk over its unit has told of them.
//  - A chain of abstract origins and specifications that never ends is given up after 16 steps.
// Not provided: namespaces of bare names in other units than those walked (link-time optimisation by gcc).
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

struct DieName {
  std::string text;         // empty: none
  bool is_linkage = false;  // false: from DW_AT_name
};

inline constexpr uint32_t kNoScope = 0xffffffff;

class DieNames {
 public:
  // A namespace, class or function, inside another or kNoScope. Returns its number.
  uint32_t add_scope(Dwarf_Die die, uint32_t outer);
  // A function with a bare name is in this scope.
  void place(const Dwarf_Die& die, uint32_t scope) { scope_of_[die.addr] = scope; }

  // The reference lives as long as this object.
  const DieName& name(Dwarf_Die die) { return name(die, 0); }

 private:
  struct Scope {
    Dwarf_Die die;
    uint32_t outer;
  };
  const DieName& name(Dwarf_Die die, int depth);
  std::string prefix(uint32_t scope, const char* plain, int depth);

  std::vector<Scope> scopes_;
  std::unordered_map<const void*, uint32_t> scope_of_;  // these two by the entry's place in memory
  std::unordered_map<const void*, DieName> names_;
};

}  // namespace heapprof::cli
