// cli/target/loader_command.h: finds programs that are loaded by another program instead of the kernel. Bundles and Nix
// start the loader as a command: /lib64/ld-linux-x86-64.so.2 --library-path lib ./server --port 80. Valgrind and
// emulators load the program that they are given, too.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// The program that a command line of glibc's loader starts. If neither field is set, the loader itself will report an
// error.
struct LoaderCommand {
  size_t program = 0;  // its index in the command line; 0: no program
  std::string option;  // the option that makes it start no program, such as "--list"
};
LoaderCommand read_loader_command(const std::vector<std::string>& command);

// The file that the process runs, if the kernel started a static program that loaded it (ld.so, Valgrind, qemu). It is
// found by the first word of the command line that names a mapped file; `argument` is that word's index. nullopt if the
// kernel started the program itself, which is the usual case.
struct LoadedProgram {
  std::string path;
  size_t argument = 0;
  bool is_emulated = false;  // Valgrind or an emulator translates its code
};
std::optional<LoadedProgram> find_loaded_program(pid_t pid, const std::vector<std::string>& command);

}  // namespace heapprof::cli
