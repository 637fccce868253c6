// cli/target/sanitizer_search.h: finds out whether a program uses a sanitizer, which replaces malloc and must be loaded
// first.
//
// Guarantees
//  - The program, the libraries that it needs directly or indirectly, and LD_PRELOAD are searched.
// Not provided: a search in the system's own folders, whose libraries use no sanitizer, and in libraries that the
//           program loads later.
// Trust:    as in elf_file.h. At most 64 libraries are opened.
#pragma once

#include "cli/base/result.h"
#include "cli/target/elf_file.h"

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// The symbol names that read_elf() has to look for in the program.
std::vector<std::string> sanitizer_functions();

// The problem if there is a sanitizer, because the agent cannot be loaded then. path: the program's file; subject: what
// the user typed.
std::optional<Problem> find_sanitizer(const ElfFacts& program, const std::string& path, const std::string& subject);

}  // namespace heapprof::cli
