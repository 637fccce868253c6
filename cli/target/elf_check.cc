// cli/target/elf_check.cc: makes the checks in the order in which the kernel and the loader make theirs.
#include "cli/target/elf_check.h"

#include "cli/arch/arch.h"
#include "cli/base/fd.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/target/elf_file.h"
#include "cli/target/loader_command.h"
#include "cli/target/sanitizer_search.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr size_t kMostScripts = 5;  // the kernel's own limit is 4 rewrites
constexpr size_t kHeadBytes = 256;  // what the kernel reads of a file's start (BINPRM_BUF_SIZE)

const std::vector<std::string>& allocation_functions() {
  static const std::vector<std::string> names = {"malloc",   "free",          "calloc",        "realloc",
                                                 "memalign", "aligned_alloc", "posix_memalign"};
  return names;
}

struct Found {
  std::string path;
  int error = ENOENT;  // where path is empty
};

bool is_executable_file(const std::string& path, int* error) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    *error = errno;
    return false;
  }
  if (S_ISDIR(facts.st_mode)) {
    *error = EISDIR;
    return false;
  }
  if (!S_ISREG(facts.st_mode) || ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) {
    *error = EACCES;
    return false;
  }
  return true;
}

// Finds the program as execvp does: a name with a slash is a path. For other names, each folder of PATH is tried in
// turn; a file that may not be executed is skipped.
Found find_program(const std::string& program) {
  Found found;
  if (program.empty()) return found;
  if (program.find('/') != std::string::npos) {
    if (is_executable_file(program, &found.error)) found.path = program;
    return found;
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/bin:/usr/bin";
  for (;;) {
    const std::string folder(rest.substr(0, rest.find(':')));
    const std::string path = folder.empty() ? program : folder + "/" + program;  // empty: the current folder
    int error = 0;
    if (is_executable_file(path, &error)) {
      found.path = path.find('/') == std::string::npos ? "./" + path : path;
      return found;
    }
    if (error == EACCES) found.error = EACCES;
    if (rest.find(':') == std::string_view::npos) return found;
    rest.remove_prefix(rest.find(':') + 1);
  }
}

// For "#!/usr/bin/env -S x" that is /usr/bin/env; the agent is inherited by the program that env starts.
std::string script_interpreter(std::string_view head) {
  std::string_view line =
      head.substr(2, head.find('\n') == std::string_view::npos ? std::string_view::npos : head.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(std::string_view(" \t\r\0", 4))));
}

std::string machine_name(const ElfFacts& elf) {
  switch (elf.machine) {
    case EM_386: return "a 32-bit x86 program";
    case EM_X86_64: return elf.is_64_bit ? "an x86-64 program" : "a 32-bit (x32) program";
    case EM_AARCH64: return "a 64-bit ARM program";
    case EM_ARM: return "a 32-bit ARM program";
    case EM_RISCV: return "a RISC-V program";
    case EM_PPC64: return "a 64-bit PowerPC program";
    case EM_S390: return "an s390 program";
    default: return "a program for another machine (ELF machine " + std::to_string(elf.machine) + ")";
  }
}

// Why the loader would run the program in secure mode (AT_SECURE), in which it ignores LD_PRELOAD; empty if it would
// not.
std::string privilege_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return "";
  if ((facts.st_mode & S_ISUID) != 0 && facts.st_uid != ::geteuid()) return "is setuid";
  if ((facts.st_mode & S_ISGID) != 0 && (facts.st_mode & S_IXGRP) != 0 && facts.st_gid != ::getegid())
    return "is setgid";
  // Root has all capabilities already.
  if (::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return "has file capabilities";
  return "";
}

bool needs(const ElfFacts& elf, std::string_view library) {
  return std::any_of(elf.needed.begin(), elf.needed.end(), [&](const std::string& name) {
    return base_name_view(name).substr(0, library.size()) == library;
  });
}

// The file that a problem names. For a script that is its interpreter, because that causes the problem.
std::string subject_of(const ProgramFacts& facts, const std::string& program) {
  return facts.scripts.empty() ? program : facts.elf_path;
}

bool is_name_of_glibc_loader(std::string_view name) { return name.starts_with("ld-linux-"); }

// Whether the file is glibc's loader, judged by its name, or, if it was renamed (ld-2.31.so), by its DT_SONAME.
bool is_glibc_loader(const std::string& path, const std::string& subject) {
  if (is_name_of_glibc_loader(base_name_view(path))) return true;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return false;
  const Result<ElfFacts> loader = read_elf(file.get(), {}, subject);
  return loader && is_name_of_glibc_loader(loader->own_name);
}

Result<Done> judge_elf(int fd, const std::string& subject, ProgramFacts* facts) {
  std::vector<std::string> symbols = allocation_functions();
  for (const std::string& name : sanitizer_functions()) symbols.push_back(name);
  Result<ElfFacts> read = read_elf(fd, symbols, subject);
  if (!read) return read.problem();
  const ElfFacts& elf = *read;
  if (elf.machine != kElfMachine || !elf.is_64_bit || !elf.is_little_endian)
    return program_for_other_machine(subject, machine_name(elf));
  if (elf.type != ET_EXEC && elf.type != ET_DYN) return program_has_unknown_format(subject);
  if (const std::optional<Problem> found = find_sanitizer(elf, facts->elf_path, subject)) return *found;
  facts->is_loader = !elf.has_loader && is_name_of_glibc_loader(elf.own_name);
  if (facts->is_loader) return Done{};
  if (!elf.has_loader) return program_is_static(subject);
  facts->loader = elf.loader;
  if (base_name_view(elf.loader).substr(0, 8) == "ld-musl-" || needs(elf, "libc.musl-"))
    return program_needs_other_libc(subject, elf.loader);
  if (::access(elf.loader.c_str(), F_OK) != 0) return program_without_loader(subject, elf.loader);
  if (!is_glibc_loader(elf.loader, subject)) return program_needs_other_libc(subject, elf.loader);
  for (const std::string& name : allocation_functions()) {
    if (std::find(elf.defined.begin(), elf.defined.end(), name) != elf.defined.end())
      facts->own_allocation_functions.push_back(name);
  }
  return Done{};
}

Problem cannot_start(const std::string& program, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return program_not_found(program);
    case EISDIR: return program_is_directory(program);
    default: return program_not_executable(program, errno_text(error));
  }
}

}  // namespace

namespace {

Result<ProgramFacts> inspect_named(const std::string& program) {
  const Found found = find_program(program);
  if (found.path.empty()) return cannot_start(program, found.error);
  ProgramFacts facts;
  facts.path = found.path;
  facts.elf_path = found.path;
  for (;;) {
    const std::string subject = subject_of(facts, program);
    // Set-id bits are checked only for ELF files, because the kernel ignores them for scripts.
    // (O_NONBLOCK, because what was a regular file a moment ago may be a pipe now.)
    const UniqueFd file(::open(facts.elf_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    std::array<char, kHeadBytes> head{};
    const ssize_t bytes = file.is_open() ? ::pread(file.get(), head.data(), head.size(), 0) : -1;
    if (bytes < 0) {
      facts.inspected = false;
      facts.warnings.push_back(program_not_inspected(subject, errno_text(errno)));
      return facts;
    }
    const std::string_view text(head.data(), static_cast<size_t>(bytes));
    if (text.substr(0, SELFMAG) == std::string_view(ELFMAG, SELFMAG)) {
      if (const std::string why = privilege_of(facts.elf_path); !why.empty())
        return program_has_privileges(subject, why);
      if (const Result<Done> judged = judge_elf(file.get(), subject, &facts); !judged) return judged.problem();
      return facts;
    }
    const bool is_script = text.substr(0, 2) == "#!";
    // If the kernel does not know a file's format, execvp runs it with the shell. We do the same if the file is text or
    // empty.
    if (!is_script && text.find('\0') != std::string_view::npos) return program_has_unknown_format(subject);
    const std::string interpreter = is_script ? script_interpreter(text) : "/bin/sh";
    if (interpreter.empty()) return program_has_unknown_format(subject);
    facts.scripts.push_back(facts.elf_path);
    if (facts.scripts.size() > kMostScripts) return interpreters_too_deep(program);
    int error = 0;
    if (!is_executable_file(interpreter, &error)) {
      if (error == ENOENT || error == ENOTDIR) return interpreter_not_found(subject, interpreter);
      return program_not_executable(interpreter, errno_text(error));
    }
    facts.elf_path = interpreter;
  }
}

// Inspects the program that the loader would load, if the command gives its path. A plain name is not inspected,
// because the loader searches for it as for a library.
Result<ProgramFacts> inspect_loaded(const std::vector<std::string>& command, ProgramFacts loader) {
  const LoaderCommand started = read_loader_command(command);
  if (!started.option.empty()) return loader_starts_nothing(command[0], started.option);
  loader.program = started.program;
  loader.inspected = false;
  const std::string& program = command[started.program];
  const UniqueFd file(started.program == 0 || program.find('/') == std::string::npos
                          ? -1
                          : ::open(program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return loader;  // the loader itself will report the error
  loader.inspected = true;
  loader.elf_path = program;
  if (const Result<Done> judged = judge_elf(file.get(), program, &loader); !judged) return judged.problem();
  return loader;
}

}  // namespace

Result<ProgramFacts> inspect_program(const std::vector<std::string>& command) {
  Result<ProgramFacts> facts = inspect_named(command[0]);
  if (!facts || !facts->is_loader || !facts->scripts.empty()) return facts;
  return inspect_loaded(command, std::move(*facts));
}

}  // namespace heapprof::cli
