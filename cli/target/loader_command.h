// cli/target/loader_command.h: programs that another program, not the kernel, loads. Bundles and Nix name the loader:
// /lib64/ld-linux-x86-64.so.2 --library-path lib ./server --port 80. Valgrind and emulators load the program that they
// are given.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// What a command line of glibc's loader starts.
struct LoaderCommand {
  size_t program = 0;  // its number in the command line; 0: none
  std::string option;  // why it starts no program, "--list"; empty: the loader itself will say why
};
LoaderCommand read_loader_command(const std::vector<std::string>& command);

// The file that the process runs, if the kernel started a static program that loaded it (ld.so, Valgrind, qemu): the
// first word of the command line that names a mapped file, and that word's number. Nothing if the kernel started the
// program itself, which is the usual case.
struct LoadedProgram {
  std::string path;
  size_t argument = 0;
  bool is_emulated = false;  // by Valgrind or an emulator: the file's own code is not what runs
};
std::optional<LoadedProgram> find_loaded_program(pid_t pid, const std::vector<std::string>& command);

}  // namespace heapprof::cli
