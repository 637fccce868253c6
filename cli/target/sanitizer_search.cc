// cli/target/sanitizer_search.cc: AddressSanitizer refuses to start after a preloaded agent, and ThreadSanitizer
// crashes.
//
// Even if the program is not built with a sanitizer, one of its libraries may be, or LD_PRELOAD may load one. Libraries
// are searched for in the folders that the program, a library or LD_LIBRARY_PATH names. The system's folders are not
// searched, because their libraries are built for programs without a sanitizer. So for most programs no library is
// opened.
#include "cli/target/sanitizer_search.h"

#include "cli/base/fd.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr size_t kMostLibraries = 64;
constexpr size_t kMostFolders = 256;

struct Sanitizer {
  const char* name;
  const char* flag;
  const char* library;
  const char* clang_library;
  const char* symbol;
};
constexpr std::array<Sanitizer, 5> kSanitizers = {{
    {"AddressSanitizer", "-fsanitize=address", "libasan.so", "libclang_rt.asan", "__asan_init"},
    {"ThreadSanitizer", "-fsanitize=thread", "libtsan.so", "libclang_rt.tsan", "__tsan_init"},
    {"MemorySanitizer", "-fsanitize=memory", "libmsan.so", "libclang_rt.msan", "__msan_init"},
    {"LeakSanitizer", "-fsanitize=leak", "liblsan.so", "libclang_rt.lsan", "__lsan_init"},
    {"HWAddressSanitizer", "-fsanitize=hwaddress", "libhwasan.so", "libclang_rt.hwasan", "__hwasan_init"},
}};

bool is_library_of(const Sanitizer& sanitizer, const std::string& library) {
  const std::string_view name = base_name_view(library);
  return name.starts_with(sanitizer.library) || name.starts_with(sanitizer.clang_library);
}

bool needs(const ElfFacts& elf, const Sanitizer& sanitizer) {
  return std::any_of(elf.needed.begin(), elf.needed.end(),
                     [&](const std::string& name) { return is_library_of(sanitizer, name); });
}

bool has_symbol(const ElfFacts& elf, const std::string& name) {
  return std::find(elf.defined.begin(), elf.defined.end(), name) != elf.defined.end() ||
         std::find(elf.required.begin(), elf.required.end(), name) != elf.required.end();
}

std::vector<std::string> split(std::string_view list, const char* separators) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t end = list.find_first_of(separators);
    if (end != 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return parts;
}

std::vector<std::string> variable_parts(const char* name, const char* separators) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::vector<std::string>{} : split(value, separators);
}

// Adds the folders that an object names for its libraries (DT_RPATH, DT_RUNPATH), with $ORIGIN replaced as by the
// loader.
void add_run_folders(const ElfFacts& elf, const std::string& path, std::vector<std::string>* folders) {
  const size_t slash = path.rfind('/');
  const std::string origin = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  for (const std::string& list : elf.run_paths) {
    for (std::string folder : split(list, ":")) {
      for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
        if (const size_t at = folder.find(word); at != std::string::npos) folder.replace(at, word.size(), origin);
      }
      if (folders->size() < kMostFolders) folders->push_back(folder);
    }
  }
}

UniqueFd open_library(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

struct Library {
  std::string name;
  std::vector<std::string> folders;
};

std::vector<Library> needed_of(const ElfFacts& elf, const std::string& path, std::vector<std::string> folders) {
  add_run_folders(elf, path, &folders);
  std::vector<Library> needed;
  for (const std::string& name : elf.needed) needed.push_back({name, folders});
  return needed;
}

std::optional<ElfFacts> read_library(const Library& library, std::string* path) {
  const bool is_path = library.name.find('/') != std::string::npos;
  const std::vector<std::string> here = {""};
  for (const std::string& folder : is_path ? here : library.folders) {
    *path = folder.empty() ? library.name : folder + "/" + library.name;
    const UniqueFd file = open_library(*path);
    if (!file.is_open()) continue;
    Result<ElfFacts> facts = read_elf(file.get(), {}, *path);
    if (facts) return std::move(*facts);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> sanitizer_functions() {
  std::vector<std::string> names;
  for (const Sanitizer& sanitizer : kSanitizers) names.emplace_back(sanitizer.symbol);
  return names;
}

std::optional<Problem> find_sanitizer(const ElfFacts& program, const std::string& path, const std::string& subject) {
  for (const Sanitizer& sanitizer : kSanitizers) {
    if (needs(program, sanitizer) || has_symbol(program, sanitizer.symbol))
      return program_has_sanitizer(subject, sanitizer.name, sanitizer.flag);
  }
  const std::vector<std::string> folders = variable_parts("LD_LIBRARY_PATH", ":;");
  std::vector<Library> waiting = needed_of(program, path, folders);
  for (const std::string& object : variable_parts("LD_PRELOAD", ": ")) {
    for (const Sanitizer& sanitizer : kSanitizers) {
      if (is_library_of(sanitizer, object))
        return program_has_sanitizer(subject, sanitizer.name, "LD_PRELOAD=" + object);
    }
    waiting.push_back({object, folders});
  }
  std::set<std::string> seen;
  for (size_t next = 0; next < waiting.size() && seen.size() < kMostLibraries; ++next) {
    const Library library = waiting[next];
    if (library.folders.empty() && library.name.find('/') == std::string::npos) continue;
    if (!seen.insert(library.name).second) continue;
    std::string file;
    const std::optional<ElfFacts> facts = read_library(library, &file);
    if (!facts) continue;
    for (const Sanitizer& sanitizer : kSanitizers) {
      if (needs(*facts, sanitizer))
        return program_has_sanitizer(file + ", which " + subject + " loads,", sanitizer.name, sanitizer.flag);
    }
    for (Library& one : needed_of(*facts, file, library.folders)) waiting.push_back(std::move(one));
  }
  return std::nullopt;
}

}  // namespace heapprof::cli
