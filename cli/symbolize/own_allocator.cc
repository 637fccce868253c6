// cli/symbolize/own_allocator.cc: reads the symbol tables themselves; they also contain functions that are called, but
// not defined.
#include "cli/symbolize/own_allocator.h"

#include "cli/base/file_table.h"
#include "cli/symbolize/elf_identity.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace heapprof::cli {
namespace {

// The best known names come first.
constexpr std::string_view kNames[] = {"_rjem_malloc", "_rjem_mallocx",    "je_malloc", "je_mallocx",
                                       "mi_malloc",    "mi_heap_malloc",   "tc_malloc", "TCMallocInternalMalloc",
                                       "rpmalloc",     "sn_rust_alloc",    "sn_malloc", "scalable_malloc",
                                       "hoard_malloc", "runtime.mallocgc", "GC_malloc", "dlmalloc"};

struct Table {
  Elf64_Shdr symbols;
  Elf64_Shdr strings;
  bool is_exported;  // .dynsym
};
std::vector<Elf64_Shdr> sections_of(int fd) {
  const auto header = read_table<Elf64_Ehdr>(fd, 0, sizeof(Elf64_Ehdr));
  if (!header || header->front().e_shentsize != sizeof(Elf64_Shdr)) return {};
  return read_table<Elf64_Shdr>(fd, header->front().e_shoff, header->front().e_shnum * sizeof(Elf64_Shdr))
      .value_or(std::vector<Elf64_Shdr>());
}

std::vector<Table> symbol_tables(int fd) {
  const std::vector<Elf64_Shdr> sections = sections_of(fd);
  std::vector<Table> tables;
  for (const Elf64_Shdr& section : sections) {
    const bool is_table = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (is_table && section.sh_link < sections.size())
      tables.push_back({section, sections[section.sh_link], section.sh_type == SHT_DYNSYM});
  }
  return tables;
}

// Whether the file was linked with -Bsymbolic.
bool is_symbolic(int fd) {
  for (const Elf64_Shdr& section : sections_of(fd)) {
    if (section.sh_type != SHT_DYNAMIC) continue;
    const auto entries = read_table<Elf64_Dyn>(fd, section.sh_offset, section.sh_size);
    for (const Elf64_Dyn& entry : entries.value_or(std::vector<Elf64_Dyn>())) {
      if (entry.d_tag == DT_SYMBOLIC || (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_SYMBOLIC) != 0)) return true;
    }
  }
  return false;
}

// Calls `action` with the name and symbol of each function that the table defines.
template <typename Action>
void for_each_function(int fd, const Table& table, Action&& action) {
  const auto symbols = read_table<Elf64_Sym>(fd, table.symbols.sh_offset, table.symbols.sh_size);
  const auto text = read_table<char>(fd, table.strings.sh_offset, table.strings.sh_size);
  if (!symbols || !text) return;
  for (const Elf64_Sym& symbol : *symbols) {
    const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!is_function || symbol.st_name >= text->size()) continue;
    const char* name = text->data() + symbol.st_name;
    action(std::string_view(name, ::strnlen(name, text->size() - symbol.st_name)), symbol);
  }
}

// The index of the first of kNames that the table defines; std::size(kNames): it defines none of them.
size_t find_in_table(int fd, const Table& table) {
  size_t best = std::size(kNames);
  for_each_function(fd, table, [&](std::string_view name, const Elf64_Sym&) {
    best =
        std::min(best, static_cast<size_t>(std::find(std::begin(kNames), std::end(kNames), name) - std::begin(kNames)));
  });
  return best;
}

// One of kNames, or a jemalloc name after the library's own prefix (duckdb_je_mallocx).
std::string find_known_name(int fd, const Table& table) {
  if (const size_t index = find_in_table(fd, table); index < std::size(kNames)) return std::string(kNames[index]);
  std::string found;
  for_each_function(fd, table, [&](std::string_view name, const Elf64_Sym&) {
    if (found.empty() && name.ends_with("mallocx") && name.find('.') == std::string_view::npos) found = name;
  });
  return found;
}

// Whether the file's calls reach its own malloc, regardless of others in the process: that malloc is not exported or is
// protected, or the file is linked with -Bsymbolic.
bool calls_own_malloc(int fd, const std::vector<Table>& tables) {
  bool is_there = false;
  bool is_exported = false;
  for (const Table& table : tables) {
    for_each_function(fd, table, [&](std::string_view name, const Elf64_Sym& symbol) {
      if (name != "malloc") return;
      is_there = true;
      is_exported = is_exported || (table.is_exported && ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT);
    });
  }
  return is_there && (!is_exported || is_symbolic(fd));
}

// Finds texts of allocators' error messages.
std::string find_text(int fd) {
  struct Text {
    std::string_view text;
    const char* name;
  };
  constexpr Text kTexts[] = {{"<jemalloc>: ", "jemalloc"}, {"mimalloc: ", "mimalloc"}, {"TCMALLOC_", "tcmalloc"}};
  constexpr size_t kAtOnce = 1 << 20;
  constexpr size_t kOverlap = 16;
  constexpr uint64_t kMostSearched = 1u << 30;
  std::vector<char> bytes(kAtOnce + kOverlap);
  for (uint64_t done = 0; done < kMostSearched; done += kAtOnce) {
    const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(done));
    if (got <= 0) break;
    const std::string_view part(bytes.data(), static_cast<size_t>(got));
    for (const Text& one : kTexts) {
      if (part.find(one.text) != std::string_view::npos) return std::string("texts of ") + one.name;
    }
  }
  return {};
}

}  // namespace

std::string find_own_allocator(int fd, const std::string& build_id) {
  const std::optional<ElfIdentity> identity = read_elf_identity(fd);
  if (!identity || identity->build_id != build_id) return {};
  size_t best = std::size(kNames);
  for (const Table& table : symbol_tables(fd)) best = std::min(best, find_in_table(fd, table));
  return best < std::size(kNames) ? std::string(kNames[best]) : std::string();
}

std::string find_library_allocator(int fd, const std::string& build_id) {
  const std::optional<ElfIdentity> identity = read_elf_identity(fd);
  if (!identity || identity->build_id != build_id) return {};
  std::string hidden;
  const std::vector<Table> tables = symbol_tables(fd);
  if (calls_own_malloc(fd, tables)) return "malloc";
  for (const Table& table : tables) {
    const std::string name = find_known_name(fd, table);
    if (name.empty()) continue;
    if (table.is_exported) return {};  // the agent looks for such names itself
    hidden = name;
  }
  return hidden.empty() ? find_text(fd) : hidden;
}

}  // namespace heapprof::cli
