// cli/target/sanitizer_search.h: does a program bring a sanitizer, which replaces malloc and must be loaded first?
//
// Guarantees
//  - Searches the program, the libraries that it needs, those that these need, and LD_PRELOAD.
// Not provided: libraries in the system's own folders, which have no sanitizer; those that the program loads later.
// Trust:    as in elf_file.h. At most 64 libraries are opened.
#pragma once

#include "cli/base/result.h"
#include "cli/target/elf_file.h"

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// The names that ElfFacts has to look for in the program.
std::vector<std::string> sanitizer_functions();

// Why the program cannot be entered. path: its file; subject: what the user typed.
std::optional<Problem> find_sanitizer(const ElfFacts& program, const std::string& path, const std::string& subject);

}  // namespace heapprof::cli
