// cli/target/elf_check.h: what a program is, found out before it is started.
//
// A program that the agent cannot enter would run unharmed and unseen: exit 0, nothing recorded, no word why. So the
// file is read first, and the reason is said.
//
// Guarantees
//  - Finds the program as execvp does; a script leads to its interpreter, as in the kernel, and a loader that is
//    started as a command to what it loads.
//  - Executes nothing, and leaves the file alone.
// Not provided: what the program starts or loads later; its libraries are not searched but for names of sanitizers.
// Trust:    any bytes: a hostile file gives a Problem or wrong facts, never a crash.
#pragma once

#include "cli/base/result.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct ProgramFacts {
  std::string path;                  // what to execute: the script itself where it is one
  std::string elf_path;              // the ELF file that the kernel loads: the program, or the script's interpreter
  std::string loader;                // PT_INTERP; empty if the file could not be read
  std::vector<std::string> scripts;  // from `path` on, those that lead to elf_path
  std::vector<std::string> own_allocation_functions;  // malloc's family, where the program defines it
  bool is_loader = false;                             // the loader itself, as a command
  size_t program = 0;             // its number in the command: not 0 where that names a loader first
  bool inspected = true;          // false: the file may be executed but not read
  std::vector<Problem> warnings;  // what will not be seen
};

// The command as the user typed it.
Result<ProgramFacts> inspect_program(const std::vector<std::string>& command);
inline Result<ProgramFacts> inspect_program(const std::string& program) {
  return inspect_program(std::vector<std::string>{program});
}

}  // namespace heapprof::cli
