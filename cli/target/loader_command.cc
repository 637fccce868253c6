// cli/target/loader_command.cc: the options are those that `ld.so --help` lists (glibc 2.36). The auxiliary vector
// shows whether the kernel started a loader as a command: for a program it has the address of the interpreter
// (AT_BASE), for a loader it does not. The process can change its command line, so a word counts only if the file that
// it names is mapped in the process.
#include "cli/target/loader_command.h"

#include "cli/base/file_name.h"
#include "cli/base/text.h"
#include "cli/target/proc_file.h"
#include "cli/target/process_facts.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr std::array<std::string_view, 7> kWithValue = {
    "--library-path", "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask", "--inhibit-rpath", "--audit", "--preload",
    "--argv0"};
constexpr std::array<std::string_view, 1> kAlone = {"--inhibit-cache"};
constexpr std::array<std::string_view, 6> kEnding = {"--list", "--verify", "--list-tunables", "--list-diagnostics",
                                                     "--help", "--version"};

bool has_interpreter(pid_t pid) {
  const std::string bytes = read_proc(pid, "auxv");
  Elf64_auxv_t entry;
  for (size_t at = 0; at + sizeof entry <= bytes.size(); at += sizeof entry) {
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.a_type == AT_BASE) return entry.a_un.a_val != 0;
  }
  return true;
}

// A line of /proc/PID/maps: "55…-55… r-xp 00001000 08:01 1234    /usr/bin/x".
struct MappedFile {
  std::string device_inode;  // "08:01 1234"
  std::string path;
};

std::vector<MappedFile> mapped_files(pid_t pid) {
  const std::string text = read_proc(pid, "maps");
  std::vector<MappedFile> mappings;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    size_t field = 0;
    for (int i = 0; i < 3 && field != std::string::npos; ++i) field = line.find(' ', field + 1);
    const size_t slash = line.find('/');
    if (field == std::string::npos || slash == std::string::npos) continue;
    const size_t inode_end = line.find(' ', line.find(' ', field + 1) + 1);
    mappings.push_back({line.substr(field + 1, inode_end - field - 1), line.substr(slash)});
  }
  return mappings;
}

// The mapping of the file that a word of the process's command line names; nullptr: there is none. A word without a
// slash is searched for in heapprof's own PATH, which the process usually inherits.
const MappedFile* find_mapped(pid_t pid, const std::string& word, const std::vector<MappedFile>& mappings) {
  std::vector<std::string> paths;
  if (word.find('/') != std::string::npos) {
    paths.push_back(fmt::format("/proc/{}/{}{}", pid, word.starts_with('/') ? "root" : "cwd/", word));
  } else if (const char* folders = std::getenv("PATH"); folders != nullptr && !word.starts_with('-')) {
    std::istringstream rest(folders);
    for (std::string folder; std::getline(rest, folder, ':');)
      paths.push_back(fmt::format("/proc/{}/root/{}/{}", pid, folder, word));
  }
  for (const std::string& path : paths) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) continue;
    const std::string wanted = fmt::format("{:02x}:{:02x} {}", major(facts.st_dev), minor(facts.st_dev), facts.st_ino);
    for (const MappedFile& mapping : mappings) {
      if (mapping.device_inode == wanted) return &mapping;
    }
  }
  return nullptr;
}

}  // namespace

LoaderCommand read_loader_command(const std::vector<std::string>& command) {
  for (size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (is_one_of(word, kEnding)) return {0, word};
    if (is_one_of(word, kAlone)) continue;
    if (is_one_of(word, kWithValue) && i + 1 < command.size()) {
      ++i;
      continue;
    }
    if (word.starts_with("--")) return {};
    return {i, ""};
  }
  return {};
}

std::optional<LoadedProgram> find_loaded_program(pid_t pid, const std::vector<std::string>& command) {
  if (has_interpreter(pid)) return std::nullopt;
  const std::vector<MappedFile> mappings = mapped_files(pid);
  const LoaderCommand loader = read_loader_command(command);
  if (loader.program != 0) {
    const std::string& program = command[loader.program];
    if (const MappedFile* mapped = find_mapped(pid, program, mappings))
      return LoadedProgram{mapped->path, loader.program, false};
    // If the process has changed its current folder, a relative path no longer works, so the file name alone is
    // compared.
    for (const MappedFile& mapping : mappings) {
      if (base_name_view(mapping.path) == base_name_view(program))
        return LoadedProgram{mapping.path, loader.program, false};
    }
  }
  const std::string started = process_executable(pid);
  for (size_t i = 1; i < command.size(); ++i) {
    const MappedFile* mapped = find_mapped(pid, command[i], mappings);
    if (mapped != nullptr && mapped->path != started) return LoadedProgram{mapped->path, i, true};
  }
  return std::nullopt;
}

}  // namespace heapprof::cli
