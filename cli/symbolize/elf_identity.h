// cli/symbolize/elf_identity.h: the build id of a file, which shows whether it is the one that was loaded, or its debug
// file.
//
// Context:  any thread; reads with pread, so that the descriptor's offset does not change.
// Trust:    the file is hostile: lengths are checked, at most 1 MiB of notes is read.
#pragma once

#include <optional>
#include <string>

namespace heapprof::cli {

struct ElfIdentity {
  std::string build_id;  // lower-case hex; empty: the file has none
};

// What else a file contains, by the names and types of its sections.
struct ElfContents {
  bool has_debug_info = false;  // DWARF
  bool has_symbols = false;     // .symtab
};

// Nothing if the descriptor is not a regular file with a 64-bit little-endian ELF header of a program or library.
std::optional<ElfIdentity> read_elf_identity(int fd);

ElfContents read_elf_contents(int fd);

}  // namespace heapprof::cli
