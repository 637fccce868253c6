// cli/target/elf_check.h: inspects a program's file before the program is started.
//
// A program into which the agent cannot be loaded would run normally but unrecorded, with exit 0, no profile and no
// reason given. So the file is read first, and the reason is reported.
//
// Guarantees
//  - The program is found as execvp finds it. If it is a script, its interpreter is inspected, as the kernel would run
//    it. If it is a loader that the user started, the program that it loads is inspected.
//  - Nothing is executed, and the file is not changed.
// Not provided: a check of programs that it starts, and of libraries that it loads later. The libraries that it needs
//           at its start are only searched for sanitizers.
// Trust:    any bytes: a hostile file results in a Problem or wrong facts, never a crash.
#pragma once

#include "cli/base/result.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct ProgramFacts {
  std::string path;                  // the file to execute; if it is a script, the script itself
  std::string elf_path;              // the ELF file that the kernel loads: the program, or the script's interpreter
  std::string loader;                // PT_INTERP; empty if the file could not be read
  std::vector<std::string> scripts;  // from `path` on; each runs the next, the last runs elf_path
  std::vector<std::string> own_allocation_functions;  // those that the program defines
  bool is_loader = false;                             // the user started the loader itself
  size_t program = 0;                                 // index in the command; not 0 after a loader
  bool inspected = true;                              // false: the file may be executed but not read
  std::vector<Problem> warnings;                      // about parts that will not be recorded
};

// command: as the user typed it.
Result<ProgramFacts> inspect_program(const std::vector<std::string>& command);
inline Result<ProgramFacts> inspect_program(const std::string& program) {
  return inspect_program(std::vector<std::string>{program});
}

}  // namespace heapprof::cli
