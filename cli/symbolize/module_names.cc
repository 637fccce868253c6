// cli/symbolize/module_names.cc: addresses are grouped by unit, so that each unit is read once.
#include "cli/symbolize/module_names.h"

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/profile/inferred_calls.h"
#include "cli/symbolize/call_sites.h"
#include "cli/symbolize/code_calls.h"
#include "cli/symbolize/function_symbols.h"
#include "cli/symbolize/symbolizer.h"
#include "cli/symbolize/tail_calls.h"
#include "cli/symbolize/unit_frames.h"
#include "cli/symbolize/unit_index.h"

#include <elfutils/libdwelf.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace heapprof::cli {
namespace {

struct UnitWork {
  Dwarf_Die unit;
  std::vector<uint64_t> addresses;  // as DWARF addresses
  std::vector<size_t> positions;    // position of each address in the answer
};

// positions: of the wanted addresses. Each address goes to the unit at position `choice` in the index's list of units
// for it, unless that list is shorter.
std::vector<UnitWork> group_by_unit(const UnitIndex& index, std::span<const uint64_t> addresses_svma, Dwarf_Addr bias,
                                    const std::vector<size_t>& positions, size_t choice) {
  std::vector<UnitWork> works;
  std::unordered_map<const void*, size_t> by_unit;
  for (size_t position : positions) {
    uint64_t address = addresses_svma[position] - bias;
    std::vector<Dwarf_Die> units = index.find(address);
    if (choice >= units.size()) continue;
    auto [entry, is_new] = by_unit.try_emplace(units[choice].addr, works.size());
    if (is_new) works.push_back({units[choice], {}, {}});
    works[entry->second].addresses.push_back(address);
    works[entry->second].positions.push_back(position);
  }
  return works;
}

// If the first unit has no function for an address, the next one that claims it is searched; that is rare.
std::vector<UnitFrames> read_dwarf(Dwarf* dwarf, Dwarf_Addr bias, std::vector<AddressRange> executable,
                                   std::span<const uint64_t> addresses_svma, std::string* missing_file) {
  for (AddressRange& range : executable) range = {range.low - bias, range.high - bias};
  UnitIndex index(dwarf, std::move(executable));
  UnitReading reading;
  std::vector<UnitFrames> best(addresses_svma.size());
  std::vector<size_t> open(addresses_svma.size());
  std::iota(open.begin(), open.end(), size_t{0});
  for (size_t choice = 0; !open.empty(); ++choice) {
    std::vector<size_t> still_open;
    for (const UnitWork& work : group_by_unit(index, addresses_svma, bias, open, choice)) {
      std::vector<UnitFrames> found = read_unit_frames(work.unit, work.addresses, index.executable(), &reading);
      for (size_t i = 0; i < found.size(); ++i) {
        UnitFrames& so_far = best[work.positions[i]];
        if (found[i].function_bytes != 0 || so_far.frames.empty()) so_far = std::move(found[i]);
        if (so_far.function_bytes == 0) still_open.push_back(work.positions[i]);
      }
    }
    std::sort(still_open.begin(), still_open.end());
    open = std::move(still_open);
  }
  *missing_file = reading.missing_unit;
  return best;
}

// Compilers split and clone functions, and mark the pieces: `parse.cold`, `_Z3addii.isra.0.part.3`, Go's
// `runtime.asmcgocall.abi0`. DWARF uses the function's name for all of them, and so do we.
std::string_view without_clone_marks(std::string_view symbol) {
  for (std::string_view mark :
       {".cold", ".part.", ".isra.", ".constprop.", ".lto_priv.", ".localalias", ".llvm.", ".abi0"}) {
    size_t at = symbol.find(mark, 1);
    if (at != std::string_view::npos) symbol = symbol.substr(0, at);
  }
  return symbol.substr(0, symbol.find('@', 1));  // the version of a glibc symbol
}

// Sets the outermost frame's name to the symbol's if it has none, or a bare one that the symbol improves: a mangled
// name says more than `push_back`, and among the names of one C function (`__GI___libc_malloc`, `__libc_malloc`,
// `malloc`) the symbol table has the one that programs call.
void use_symbol(const FunctionSymbols& symbols, uint64_t svma, Dwarf_Addr bias, UnitFrames* found) {
  const FunctionSymbol* symbol = symbols.find(svma);
  if (symbol == nullptr) return;
  if (found->frames.empty()) found->frames.emplace_back();
  SourceFrame& outermost = found->frames.back();
  std::string plain(without_clone_marks(symbol->name));
  std::string name = demangle(plain);
  if (name == plain && symbols.has_ada()) name = demangle_ada(plain);
  bool is_same_function = found->function_bytes != 0 && found->function_low + bias == symbol->low;
  if (found->function_bytes == 0) {
    found->function_low = symbol->low - bias;
    const FunctionIdentity identity{Dwarf_Die(), plain.c_str()};
    found->call.function = symbol->is_indirect ? 0 : target_key(identity);
  }
  if (outermost.function.empty() || name != plain || is_same_function) outermost.function = std::move(name);
}

// One module while its names are read.
class Reading {
 public:
  explicit Reading(const DebugFile& file) : file_(file), executable_(file.executable()) { dwarf_ = file.dwarf(&bias_); }

  Dwarf* dwarf() const { return dwarf_; }
  Dwarf_Addr bias() const { return bias_; }
  bool has_symbols() const { return symbols_ && !symbols_->empty(); }

  std::vector<UnitFrames> find(std::span<const uint64_t> addresses_svma, std::string* missing_file) {
    std::vector<UnitFrames> found(addresses_svma.size());
    if (dwarf_ != nullptr) found = read_dwarf(dwarf_, bias_, executable_, addresses_svma, missing_file);
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].function_bytes != 0 && !found[i].has_bare_name) continue;
      if (!symbols_) symbols_.emplace(file_.module(), executable_, file_.code_sections());
      use_symbol(*symbols_, addresses_svma[i], bias_, &found[i]);
    }
    return found;
  }

 private:
  const DebugFile& file_;
  std::vector<AddressRange> executable_;
  Dwarf* dwarf_ = nullptr;
  Dwarf_Addr bias_ = 0;
  std::optional<FunctionSymbols> symbols_;
};

size_t position_of(std::span<const uint64_t> addresses, uint64_t address) {
  const auto at = std::lower_bound(addresses.begin(), addresses.end(), address);
  return at == addresses.end() || *at != address ? addresses.size() : static_cast<size_t>(at - addresses.begin());
}

// Stubs, which only jump to another function: thunks, and those to which linkers give names (on aarch64 also for
// targets that are too far away for a jump).
bool is_stub(std::string_view function) {
  return (function.starts_with("__") && function.ends_with("_veneer")) || function.starts_with("__AArch64") ||
         function.starts_with("__x86_indirect_thunk") || function.starts_with("__llvm_retpoline") ||
         function.starts_with("non-virtual thunk to ") || function.starts_with("virtual thunk to ") ||
         function.ends_with("$plt") || function.ends_with("$pltgot");
}

// Targets of the calls before return addresses, decoded from the code, by return address. Only targets that the debug
// information lacks, and that are not the function of the next inner frame.
using CodeTargets = std::map<uint64_t, uint64_t>;

CodeTargets find_code_targets(const DebugFile& file, std::span<const uint64_t> addresses_svma,
                              std::span<const UnitFrames> found, std::span<const CallPair> neighbours,
                              Dwarf_Addr bias) {
  CodeTargets targets;
  std::optional<CodeCalls> code;
  for (const CallPair& pair : neighbours) {
    const size_t outer = position_of(addresses_svma, pair.outer_svma - 1);
    if (outer == addresses_svma.size() || found[outer].call.target != 0) continue;
    if (!code) code.emplace(file);
    const uint64_t target = code->target(pair.outer_svma);
    if (target == 0) continue;
    if (pair.inner_svma != 0) {
      const size_t inner = position_of(addresses_svma, pair.inner_svma - 1);
      if (inner == addresses_svma.size() || found[inner].call.function == 0) continue;
      if (found[inner].function_low + bias == target) continue;
    }
    targets.emplace(pair.outer_svma, target);
  }
  return targets;
}

// Sets the keys of the calls' targets, and keeps only targets at which functions begin.
void use_code_targets(std::span<const uint64_t> addresses_svma, Reading* reading, ModuleNames* names,
                      CodeTargets* targets) {
  std::vector<uint64_t> wanted;
  for (const auto& [behind, target] : *targets) wanted.push_back(target);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::string missing_file;
  const std::vector<UnitFrames> found = reading->find(wanted, &missing_file);
  std::erase_if(*targets, [&](const auto& entry) {
    const UnitFrames& function = found[position_of(wanted, entry.second)];
    const bool is_function = function.call.function != 0 && function.function_low + reading->bias() == entry.second &&
                             !is_stub(function.frames.back().function);
    if (is_function) names->calls[position_of(addresses_svma, entry.first - 1)].target = function.call.function;
    return !is_function;
  });
}

std::vector<CallPair> find_open(const ModuleNames& names, std::span<const uint64_t> addresses_svma,
                                std::span<const CallPair> neighbours) {
  const auto keys_at = [&](uint64_t svma) {
    const size_t at = position_of(addresses_svma, svma - 1);
    return at == addresses_svma.size() ? CallKeys() : names.calls[at];
  };
  std::vector<CallPair> open;
  for (const CallPair& pair : neighbours) {
    const CallKeys outer = keys_at(pair.outer_svma);
    if (outer.target == 0) continue;
    if (pair.inner_svma == 0 ? is_open_call(outer) : is_open_call(outer, keys_at(pair.inner_svma)))
      open.push_back({0, pair.outer_svma, pair.inner_svma});
  }
  return open;
}

// Names the elided functions like those of the stack. At a function's entry another function may be inlined. Then only
// the outer function is named, without a line, because the line is in the inlined one.
InferredPath name_path(const std::vector<LeftFunction>& left, const std::vector<uint64_t>& addresses,
                       const std::vector<UnitFrames>& found) {
  InferredPath path;
  for (const LeftFunction& function : left) {
    const auto at = std::lower_bound(addresses.begin(), addresses.end(), function.svma);
    std::vector<SourceFrame> frames = found[static_cast<size_t>(at - addresses.begin())].frames;
    if (frames.empty() || frames.back().function.empty()) return {};  // a frame without a name explains nothing
    if (function.is_entry && frames.size() > 1) frames = {{frames.back().function, "", 0, false}};
    path.push_back({function.svma + 1, std::move(frames)});
  }
  return path;
}

InferredCalls infer_calls(const DebugFile& file, std::span<const CallPair> open, const CodeTargets& targets,
                          Reading* reading) {
  InferredCalls inferred;
  for (const CallPair& pair : open) inferred[pair];
  LeftFunctions left;
  if (reading->dwarf() != nullptr) left = find_left_functions(file, reading->dwarf(), reading->bias(), open);
  for (const CallPair& pair : open) {
    const auto target = targets.find(pair.outer_svma);
    if (target != targets.end()) left.try_emplace(pair, std::vector<LeftFunction>{{target->second, true}});
  }
  std::vector<uint64_t> addresses;
  for (const auto& [pair, functions] : left) {
    for (const LeftFunction& function : functions) addresses.push_back(function.svma);
  }
  if (addresses.empty()) return inferred;
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  std::string missing_file;
  const std::vector<UnitFrames> found = reading->find(addresses, &missing_file);
  for (const auto& [pair, functions] : left) {
    InferredPath path = name_path(functions, addresses, found);
    // The module calls its own allocator there: no frame was elided.
    const bool is_allocator = pair.inner_svma == 0 && path.size() == 1 && functions[0].is_entry &&
                              frame_kind(path[0].frames.back().function, "") == FrameKind::kAllocator;
    if (!is_allocator) inferred[pair] = std::move(path);
  }
  return inferred;
}

}  // namespace

ModuleNames read_module_names(const Module& module, std::span<const uint64_t> addresses_svma,
                              std::span<const CallPair> neighbours, const DebugSources& sources) {
  ModuleNames names;
  names.frames.resize(addresses_svma.size());
  names.calls.resize(addresses_svma.size());
  DebugFile file(module, sources);
  names.state = file.state();
  names.debuginfod_answer = file.debuginfod_answer();
  if (names.state != DebugFileState::kOpen) return names;
  Reading reading(file);
  names.has_debug_info = reading.dwarf() != nullptr;
  std::vector<UnitFrames> found = reading.find(addresses_svma, &names.missing_file);
  if (Dwarf* const dwarf = reading.dwarf()) {
    const char* supplement = nullptr;
    const void* build_id = nullptr;
    if (dwelf_dwarf_gnu_debugaltlink(dwarf, &supplement, &build_id) > 0 && dwarf_getalt(dwarf) == nullptr)
      names.missing_file = supplement;
  }
  CodeTargets targets = find_code_targets(file, addresses_svma, found, neighbours, reading.bias());
  for (size_t i = 0; i < found.size(); ++i) {
    names.frames[i] = std::move(found[i].frames);
    names.calls[i] = found[i].call;
  }
  if (!targets.empty()) use_code_targets(addresses_svma, &reading, &names, &targets);
  names.has_symbols = reading.has_symbols();
  const std::vector<CallPair> open = find_open(names, addresses_svma, neighbours);
  if (!open.empty()) names.inferred = infer_calls(file, open, targets, &reading);
  names.debuginfod_answer = file.debuginfod_answer();
  names.debug_path = file.debug_path();
  if (!names.has_debug_info && names.debug_path.empty() && !file.has_own_debug_info() && !has_debuginfod_servers())
    names.sought_paths = file.sought_paths();
  return names;
}

}  // namespace heapprof::cli
