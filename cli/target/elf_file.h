// cli/target/elf_file.h: reads the few facts of an ELF file that decide whether the agent can be preloaded.
//
// Trust:    every offset, size and count is checked against the file before it is used, and numbers of entries are
//           bounded. Values that neither the kernel nor the loader reads may be wrong: the program runs all the same,
//           so that is no error.
#pragma once

#include "cli/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ElfFacts {
  bool is_64_bit = false;
  bool is_little_endian = false;
  uint16_t machine = 0;  // EM_…
  uint16_t type = 0;     // ET_…
  bool has_loader = false;
  std::string loader;                  // PT_INTERP
  std::string own_name;                // DT_SONAME
  std::vector<std::string> needed;     // DT_NEEDED
  std::vector<std::string> run_paths;  // DT_RPATH, DT_RUNPATH
  std::vector<std::string> defined;    // requested names that the dynamic symbol table defines
  std::vector<std::string> required;   // requested names that another object has to define, or it does not start
};

// `symbols`: which names of the dynamic symbol table are of interest. `program` is for the text of a Problem. If the
// file is not 64-bit or not little-endian, only the first four facts are read.
Result<ElfFacts> read_elf(int fd, const std::vector<std::string>& symbols, const std::string& program);

}  // namespace heapprof::cli
