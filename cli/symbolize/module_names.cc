// cli/symbolize/module_names.cc: addresses are grouped by unit, so that each unit is read once, and the units are read in the
// order of their first address.
#include "cli/symbolize/module_names.h"

#include "cli/symbolize/function_symbols.h"
#include "cli/symbolize/symbolizer.h"
#include "cli/symbolize/unit_frames.h"
#include "cli/symbolize/unit_index.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace heapprof::cli {
namespace {

struct UnitWork {
  Dwarf_Die unit;
  std::vector<uint64_t> addresses;  // in the DWARF's terms
  std::vector<size_t> places;       // of each address in the answer
};

std::vector<UnitWork> group_by_unit(const UnitIndex& index, std::span<const uint64_t> addresses_svma, Dwarf_Addr bias) {
  std::vector<UnitWork> works;
  std::unordered_map<const void*, size_t> by_unit;
  for (size_t i = 0; i < addresses_svma.size(); ++i) {
    uint64_t address = addresses_svma[i] - bias;
    for (const Dwarf_Die& unit : index.find(address)) {
      auto [entry, is_new] = by_unit.try_emplace(unit.addr, works.size());
      if (is_new) works.push_back({unit, {}, {}});
      works[entry->second].addresses.push_back(address);
      works[entry->second].places.push_back(i);
    }
  }
  return works;
}

// Of two units' answers for one address: the one that knows a function, then the one with the smaller function.
bool is_better(const UnitFrames& a, const UnitFrames& b) {
  if ((a.function_bytes != 0) != (b.function_bytes != 0)) return a.function_bytes != 0;
  if (a.function_bytes != b.function_bytes) return a.function_bytes < b.function_bytes;
  return a.frames.size() > b.frames.size();
}

std::vector<UnitFrames> read_dwarf(Dwarf* dwarf, Dwarf_Addr bias, std::vector<AddressRange> executable,
                                   std::span<const uint64_t> addresses_svma) {
  std::vector<UnitFrames> best(addresses_svma.size());
  for (AddressRange& range : executable) range = {range.low - bias, range.high - bias};
  UnitIndex index(dwarf, std::move(executable));
  UnitReading reading;
  for (const UnitWork& work : group_by_unit(index, addresses_svma, bias)) {
    std::vector<UnitFrames> found = read_unit_frames(work.unit, work.addresses, index.executable(), &reading);
    for (size_t i = 0; i < found.size(); ++i) {
      UnitFrames& so_far = best[work.places[i]];
      if (is_better(found[i], so_far)) so_far = std::move(found[i]);
    }
  }
  return best;
}

// Compilers split and clone functions, and mark the pieces: `parse.cold`, `_Z3addii.isra.0.part.3`. DWARF calls them all by
// the function's name, and so do we.
std::string_view without_clone_marks(std::string_view symbol) {
  for (std::string_view mark : {".cold", ".part.", ".isra.", ".constprop.", ".lto_priv.", ".localalias", ".llvm."}) {
    size_t at = symbol.find(mark, 1);
    if (at != std::string_view::npos) symbol = symbol.substr(0, at);
  }
  return symbol.substr(0, symbol.find('@', 1));  // the version of a glibc symbol
}

// Puts the symbol's name on the outermost frame if that has none, or a bare one that the symbol betters: a mangled name says
// more than `push_back`, and of the names of one C function (`__GI___libc_malloc`, `__libc_malloc`, `malloc`) the symbol table
// has the one that programs call.
void use_symbol(const FunctionSymbols& symbols, uint64_t svma, Dwarf_Addr bias, UnitFrames* found) {
  const FunctionSymbol* symbol = symbols.find(svma);
  if (symbol == nullptr) return;
  if (found->frames.empty()) found->frames.emplace_back();
  SourceFrame& outermost = found->frames.back();
  std::string plain(without_clone_marks(symbol->name));
  std::string name = demangle(plain);
  bool is_same_function = found->function_bytes != 0 && found->function_low + bias == symbol->low;
  if (outermost.function.empty() || name != plain || is_same_function) outermost.function = std::move(name);
}

}  // namespace

ModuleNames read_module_names(const Module& module, std::span<const uint64_t> addresses_svma,
                              const std::string& debug_folders) {
  ModuleNames names;
  names.frames.resize(addresses_svma.size());
  DebugFile file(module, debug_folders);
  names.state = file.state();
  if (names.state != DebugFileState::kOpen) return names;
  std::vector<AddressRange> executable = file.executable();
  std::vector<UnitFrames> found(addresses_svma.size());
  Dwarf_Addr bias = 0;
  if (Dwarf* dwarf = file.dwarf(&bias)) {
    names.has_debug_info = true;
    found = read_dwarf(dwarf, bias, executable, addresses_svma);
  }
  std::optional<FunctionSymbols> symbols;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].function_bytes == 0 || found[i].has_bare_name) {
      if (!symbols) symbols.emplace(file.module(), executable, file.code_sections());
      use_symbol(*symbols, addresses_svma[i], bias, &found[i]);
    }
    names.frames[i] = std::move(found[i].frames);
  }
  names.has_symbols = symbols && !symbols->empty();
  return names;
}

}  // namespace heapprof::cli
