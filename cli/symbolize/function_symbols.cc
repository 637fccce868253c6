// cli/symbolize/function_symbols.cc: libdwfl merges .symtab, or .dynsym and the table inside .gnu_debugdata; its own
// lookup reads all symbols for each address, so they are sorted here.
#include "cli/symbolize/function_symbols.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace heapprof::cli {
namespace {

// One step per enclosing symbol; no real file needs more than a few.
constexpr size_t kMaxSteps = 256;

bool has_symtab(Elf* elf) {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_SYMTAB) return true;
  }
  return false;
}

size_t underscores(const char* name) { return std::string_view(name).find_first_not_of('_'); }

}  // namespace

FunctionSymbols::FunctionSymbols(Dwfl_Module* module, const std::vector<AddressRange>& executable,
                                 const std::vector<AddressRange>& sections) {
  int count = dwfl_module_getsymtab(module);
  Elf* last_elf = nullptr;
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr svma = 0;
    GElf_Word section = SHN_UNDEF;
    Elf* elf = nullptr;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &svma, &section, &elf, nullptr);
    if (elf != nullptr && elf != last_elf) {
      has_full_table_ = has_full_table_ || has_symtab(elf);
      last_elf = elf;
    }
    if (name != nullptr && std::string_view(name).starts_with("__gnat_")) has_ada_ = true;
    if (name == nullptr || name[0] == '\0' || section == SHN_UNDEF || section == SHN_ABS) continue;
    bool is_code = std::any_of(executable.begin(), executable.end(),
                               [svma](const AddressRange& range) { return range.low <= svma && svma < range.high; });
    if (is_code) add(symbol, svma, name);
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const FunctionSymbol& a, const FunctionSymbol& b) {
    if (a.low != b.low) return a.low < b.low;
    if (a.is_local != b.is_local) return a.is_local;
    if (underscores(a.name) != underscores(b.name)) return underscores(a.name) > underscores(b.name);
    if (std::strlen(a.name) != std::strlen(b.name)) return std::strlen(a.name) > std::strlen(b.name);
    return std::strcmp(a.name, b.name) > 0;
  });
  close_open_ends(sections);
  uint64_t highest = 0;
  for (const FunctionSymbol& symbol : symbols_) highest_end_.push_back(highest = std::max(highest, symbol.high));
}

void FunctionSymbols::add(const GElf_Sym& symbol, uint64_t svma, const char* name) {
  unsigned type = GELF_ST_TYPE(symbol.st_info);
  bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (!is_function && !(type == STT_NOTYPE && has_full_table_)) return;
  if (type == STT_NOTYPE && name[0] == '$') return;  // where code and data begin, in files for Arm ("$x", "$d")
  if (symbol.st_size == 0 && !has_full_table_) return;
  uint64_t high = svma + symbol.st_size;
  if (high < svma) return;
  symbols_.push_back({svma, high, name, GELF_ST_BIND(symbol.st_info) == STB_LOCAL, type == STT_GNU_IFUNC});
}

void FunctionSymbols::close_open_ends(const std::vector<AddressRange>& sections) {
  uint64_t next = 0;  // begin of the next symbol with a higher address
  for (size_t i = symbols_.size(); i-- > 0;) {
    FunctionSymbol& symbol = symbols_[i];
    if (i + 1 < symbols_.size() && symbols_[i + 1].low > symbol.low) next = symbols_[i + 1].low;
    if (symbol.high != symbol.low) continue;
    for (const AddressRange& range : sections) {
      if (range.low <= symbol.low && symbol.low < range.high) symbol.high = range.high;
    }
    if (next > symbol.low) symbol.high = std::min(symbol.high, next);  // outside all sections it covers no addresses
  }
}

void FunctionSymbols::index_names() {
  if (has_names_) return;
  has_names_ = true;
  by_name_.reserve(symbols_.size());
  for (const FunctionSymbol& symbol : symbols_) {
    if (symbol.is_local) continue;
    const auto [entry, is_new] = by_name_.try_emplace(symbol.name, &symbol);
    if (!is_new && entry->second != nullptr && entry->second->low != symbol.low) entry->second = nullptr;
  }
}

bool FunctionSymbols::has_global(const char* name) {
  index_names();
  return by_name_.contains(name);
}

const FunctionSymbol* FunctionSymbols::find_global(const char* name) {
  index_names();
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const FunctionSymbol* FunctionSymbols::find(uint64_t svma) const {
  auto at = std::upper_bound(symbols_.begin(), symbols_.end(), svma,
                             [](uint64_t value, const FunctionSymbol& symbol) { return value < symbol.low; });
  size_t i = static_cast<size_t>(at - symbols_.begin());
  for (size_t steps = 0; i > 0 && highest_end_[i - 1] > svma && steps < kMaxSteps; ++steps) {
    --i;
    if (symbols_[i].high > svma) return &symbols_[i];
  }
  return nullptr;
}

}  // namespace heapprof::cli
