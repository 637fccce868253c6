// cli/symbolize/die_names.h: what a function's entry calls it, demangled, each looked up once.
//
// Guarantees
//  - The linkage name wins, because it says namespace, class and parameters; DW_AT_name is second.
//  - A chain of abstract origins and specifications that never ends is given up after 16 steps.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

namespace heapprof::cli {

struct DieName {
  std::string text;         // empty: none
  bool is_linkage = false;  // false: a bare name, without its namespace and class
};

class DieNames {
 public:
  // The reference lives as long as this object.
  const DieName& name(Dwarf_Die die);

 private:
  std::unordered_map<const void*, DieName> by_die_;  // by the entry's place in memory
};

}  // namespace heapprof::cli
