// cli/symbolize/own_allocator.cc: reads the symbol tables themselves; names of functions that are called, and not
// defined, stand in them, too.
#include "cli/symbolize/own_allocator.h"

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

constexpr uint64_t kMostBytes = 128 << 20;

// The names that a reader knows best come first.
constexpr std::string_view kNames[] = {"_rjem_malloc", "_rjem_mallocx",    "je_malloc", "je_mallocx",
                                       "mi_malloc",    "mi_heap_malloc",   "tc_malloc", "TCMallocInternalMalloc",
                                       "rpmalloc",     "sn_rust_alloc",    "sn_malloc", "scalable_malloc",
                                       "hoard_malloc", "runtime.mallocgc", "GC_malloc", "dlmalloc"};

template <typename T>
std::optional<std::vector<T>> read_table(int fd, uint64_t file_off, uint64_t size_bytes) {
  if (size_bytes > kMostBytes) return std::nullopt;
  std::vector<T> table(size_bytes / sizeof(T));
  char* to = reinterpret_cast<char*>(table.data());
  for (uint64_t left = table.size() * sizeof(T); left > 0;) {
    const ssize_t got = ::pread(fd, to, left, static_cast<off_t>(file_off));
    if (got <= 0) return std::nullopt;
    to += got;
    file_off += static_cast<uint64_t>(got);
    left -= static_cast<uint64_t>(got);
  }
  return table;
}

// The index of the first of kNames that the table defines; std::size(kNames): none.
size_t find_in_table(int fd, const Elf64_Shdr& table, const Elf64_Shdr& strings) {
  size_t best = std::size(kNames);
  const auto symbols = read_table<Elf64_Sym>(fd, table.sh_offset, table.sh_size);
  const auto text = read_table<char>(fd, strings.sh_offset, strings.sh_size);
  if (!symbols || !text) return best;
  for (const Elf64_Sym& symbol : *symbols) {
    const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!is_function || symbol.st_name >= text->size()) continue;
    const char* name = text->data() + symbol.st_name;
    const std::string_view rest(name, ::strnlen(name, text->size() - symbol.st_name));
    best =
        std::min(best, static_cast<size_t>(std::find(std::begin(kNames), std::end(kNames), rest) - std::begin(kNames)));
  }
  return best;
}

}  // namespace

std::string find_own_allocator(int fd, const std::string& build_id) {
  const std::optional<ElfIdentity> identity = read_elf_identity(fd);
  if (!identity || identity->build_id != build_id) return {};
  const auto header = read_table<Elf64_Ehdr>(fd, 0, sizeof(Elf64_Ehdr));
  if (!header || header->front().e_shentsize != sizeof(Elf64_Shdr)) return {};
  const auto sections =
      read_table<Elf64_Shdr>(fd, header->front().e_shoff, header->front().e_shnum * sizeof(Elf64_Shdr));
  if (!sections) return {};
  size_t best = std::size(kNames);
  for (const Elf64_Shdr& section : *sections) {
    const bool is_table = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (!is_table || section.sh_link >= sections->size()) continue;
    best = std::min(best, find_in_table(fd, section, (*sections)[section.sh_link]));
  }
  return best < std::size(kNames) ? std::string(kNames[best]) : std::string();
}

}  // namespace heapprof::cli
