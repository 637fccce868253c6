// cli/target/elf_check.h: finds out what a program is before it is started.
//
// A program that the agent cannot enter would run unharmed and unrecorded: exit 0, no profile, no reason given. So the
// file is read first, and the reason is reported.
//
// Guarantees
//  - Finds the program as execvp does, and follows a script to its interpreter, as the kernel does, and a loader that
//    is started as a command to what it loads.
//  - Executes nothing, and does not change the file.
// Not provided: what the program starts or loads later; its libraries are searched for names of sanitizers only.
// Trust:    any bytes: a hostile file results in a Problem or wrong facts, never a crash.
#pragma once

#include "cli/base/result.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct ProgramFacts {
  std::string path;                  // what to execute: the script itself if it is one
  std::string elf_path;              // the ELF file that the kernel loads: the program, or the script's interpreter
  std::string loader;                // PT_INTERP; empty if the file could not be read
  std::vector<std::string> scripts;  // from `path` on, those that lead to elf_path
  std::vector<std::string> own_allocation_functions;  // malloc's family, where the program defines it
  bool is_loader = false;                             // the loader itself, as a command
  size_t program = 0;             // its number in the command: not 0 if the command names a loader first
  bool inspected = true;          // false: the file may be executed but not read
  std::vector<Problem> warnings;  // what will not be seen
};

// The command as the user typed it.
Result<ProgramFacts> inspect_program(const std::vector<std::string>& command);
inline Result<ProgramFacts> inspect_program(const std::string& program) {
  return inspect_program(std::vector<std::string>{program});
}

}  // namespace heapprof::cli
