// cli/collect/leaks/module_variables.cc: reads .symtab and .dynsym without elfutils, which would read the whole file:
// the process is waiting, and only little of the file is needed.
#include "cli/base/file_table.h"
#include "cli/collect/leaks/root_holders.h"

#include <elf.h>
#include <string.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

namespace heapprof::cli {

namespace {

constexpr size_t kMostNameBytes = 4096;
constexpr size_t kMostNamesBytes = 256 << 20;

// Order of symbols at one address: the larger one first, then a global one, then by name.
struct Candidate {
  uint64_t start_svma;
  uint64_t size_bytes;
  bool is_local;
  std::string_view name;

  bool operator<(const Candidate& other) const {
    return std::tie(start_svma, other.size_bytes, is_local, name) <
           std::tie(other.start_svma, size_bytes, other.is_local, other.name);
  }
};

void add_table(int fd, const Elf64_Shdr& section, const std::vector<char>& text, std::vector<Candidate>* found) {
  const auto symbols = read_table<Elf64_Sym>(fd, section.sh_offset, section.sh_size);
  for (const Elf64_Sym& symbol : symbols.value_or(std::vector<Elf64_Sym>())) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) continue;
    if (symbol.st_name >= text.size() || symbol.st_value + symbol.st_size < symbol.st_value) continue;
    const char* const name = text.data() + symbol.st_name;
    const std::string_view view(name, ::strnlen(name, std::min(kMostNameBytes, text.size() - symbol.st_name)));
    const bool is_local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
    if (!view.empty()) found->push_back({symbol.st_value, symbol.st_size, is_local, view});
  }
}

}  // namespace

std::vector<Variable> read_variables(int fd) {
  const auto header = read_table<Elf64_Ehdr>(fd, 0, sizeof(Elf64_Ehdr));
  if (!header || header->front().e_shentsize != sizeof(Elf64_Shdr)) return {};
  const auto sections =
      read_table<Elf64_Shdr>(fd, header->front().e_shoff, header->front().e_shnum * sizeof(Elf64_Shdr));
  if (!sections) return {};
  std::vector<std::vector<char>> texts;
  texts.reserve(sections->size());
  std::vector<Candidate> found;
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    const auto at = std::find_if(sections->begin(), sections->end(),
                                 [type](const Elf64_Shdr& section) { return section.sh_type == type; });
    if (at == sections->end() || at->sh_link >= sections->size()) continue;
    const Elf64_Shdr& section = *at;
    const Elf64_Shdr& strings = (*sections)[section.sh_link];
    auto text = read_table<char>(fd, strings.sh_offset, strings.sh_size);
    if (strings.sh_type != SHT_STRTAB || !text) continue;
    texts.push_back(std::move(*text));
    add_table(fd, section, texts.back(), &found);
  }
  std::sort(found.begin(), found.end());
  std::vector<Variable> variables;
  size_t names_bytes = 0;
  for (const Candidate& one : found) {
    names_bytes += one.name.size();
    if (names_bytes > kMostNamesBytes) break;
    if (!variables.empty() && one.start_svma < variables.back().end_svma) continue;
    variables.push_back({one.start_svma, one.start_svma + one.size_bytes, std::string(one.name)});
  }
  return variables;
}

}  // namespace heapprof::cli
