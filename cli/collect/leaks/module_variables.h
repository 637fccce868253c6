// cli/collect/leaks/module_variables.h: the variables of an ELF file, as its symbol tables name them.
//
// Guarantees
//  - Of .symtab and .dynsym; variables stand by address, none inside of another, of several names of one address one.
// Not provided: thread-local variables; names of a separate debug file.
// Trust:    any bytes: every offset, size and count is checked before it is used.
// Cost:     as long as it takes to read and sort the tables, of which each may have 128 MiB.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct Variable {
  uint64_t start_svma = 0;
  uint64_t end_svma = 0;
  std::string name;  // as the linker knows it
};

// Empty: there are none, or it is no 64-bit ELF file that can be read.
std::vector<Variable> read_variables(int fd);

}  // namespace heapprof::cli
