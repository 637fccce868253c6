// cli/symbolize/tail_calls.cc: functions are read as they are reached, so that only a few of a program's thousands of
// units are read.
//
// A call refers to its function by an entry of its own unit: the function itself, the function that it is a copy of, or
// a declaration. A declaration is looked up by name in the symbol table, and the address found there in the units. A
// function's number is its start address.
#include "cli/symbolize/tail_calls.h"

#include "cli/symbolize/call_sites.h"
#include "cli/symbolize/function_symbols.h"
#include "cli/symbolize/tail_path.h"
#include "cli/symbolize/unit_calls.h"
#include "cli/symbolize/unit_index.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace heapprof::cli {
namespace {

// The most entries walked for one module, in about 0.3 s; functions beyond are unknown. CPython with all of its 174
// units has 1.5 million.
constexpr size_t kMostEntries = 10'000'000;
constexpr size_t kMostReached = 1000;      // functions that one call can reach by jumps
constexpr size_t kMostSteps = 20'000'000;  // visits of jumps for one module, counting repeated ones
constexpr uint64_t kAllocation = ~uint64_t{0};

class ModuleCalls {
 public:
  ModuleCalls(const DebugFile& file, Dwarf* dwarf, Dwarf_Addr bias)
      : file_(file), bias_(bias), index_(dwarf, in_dwarf(file.executable(), bias)) {}

  // The elided functions, outermost first.
  std::vector<LeftFunction> find(const CallPair& pair) {
    const auto [outer, unit] = function_at(pair.outer_svma - 1 - bias_);
    if (outer == nullptr) return {};
    const uint64_t first = called_at(*outer, unit, pair.outer_svma - bias_);
    uint64_t end = kAllocation;
    if (pair.inner_svma != 0) {
      const UnitFunction* const inner = function_at(pair.inner_svma - 1 - bias_).first;
      end = inner == nullptr ? kUnknown : inner->low;
    }
    if (first == kUnknown || end == kUnknown) return {};
    const auto jumps_of = [this](uint64_t low) -> const Jumps& {
      static const Jumps kNotKnown;
      const Jumps& jumps = node(low).jumps;
      steps_ += 1 + jumps.targets.size();
      return steps_ <= kMostSteps ? jumps : kNotKnown;
    };
    if (first == end || first == kHarmless) return {};
    const std::vector<uint64_t> path = find_only_path(first, end, jumps_of, kMostReached);
    // The called function was elided in any case, on every path.
    if (path.empty() && first != kAllocation) return {{first + bias_, true}};
    std::vector<LeftFunction> left;
    for (size_t i = 0; i < path.size(); ++i) {
      const uint64_t jump = node(path[i]).jump_to.at(i + 1 < path.size() ? path[i + 1] : end);
      left.push_back({(jump == 0 ? path[i] : jump) + bias_, jump == 0});
    }
    return left;
  }

 private:
  static constexpr uint64_t kUnknown = 0;
  static constexpr uint64_t kHarmless = kAllocation - 1;  // outside the module, and reaches no function of it

  struct Node {
    Jumps jumps;
    // By target: an address inside the only jump to it; 0: there are several, so it is unknown which was taken.
    std::map<uint64_t, uint64_t> jump_to;
  };

  static std::vector<AddressRange> in_dwarf(std::vector<AddressRange> ranges, Dwarf_Addr bias) {
    for (AddressRange& range : ranges) range = {range.low - bias, range.high - bias};
    return ranges;
  }

  // Null: the module's limit of entries is reached.
  UnitCalls* unit_calls(const Dwarf_Die& unit) {
    std::unique_ptr<UnitCalls>& calls = units_[unit.addr];
    if (!calls && entries_ < kMostEntries) {
      calls = std::make_unique<UnitCalls>(unit, index_.executable(), &shapes_);
      entries_ += calls->entries();
    }
    return calls.get();
  }

  // The function whose name is used at this address (module_names.cc), and its unit.
  std::pair<const UnitFunction*, UnitCalls*> function_at(uint64_t address) {
    for (const Dwarf_Die& unit : index_.find(address)) {
      UnitCalls* const calls = unit_calls(unit);
      if (calls == nullptr) return {nullptr, nullptr};
      if (const UnitFunction* const function = calls->find(address)) return {function, calls};
    }
    return {nullptr, nullptr};
  }

  uint64_t called_at(const UnitFunction& caller, UnitCalls* unit, uint64_t behind) {
    const auto [entry, is_new] = returns_.try_emplace(&caller);
    if (is_new) {
      for (uint32_t i = 0; i < caller.calls.size(); ++i) {
        Dwarf_Die site = caller.calls[i];
        if (!is_tail_call(&site)) entry->second.emplace(return_address(&site), i);
      }
    }
    std::optional<uint64_t> called;
    const auto [first, last] = entry->second.equal_range(behind);
    for (auto at = first; at != last; ++at) {
      Dwarf_Die site = caller.calls[at->second];
      const uint64_t target = target_of(&site, unit);
      if (called && *called != target) return kUnknown;
      called = target;
    }
    return called.value_or(kUnknown);
  }

  uint64_t target_of(Dwarf_Die* site, UnitCalls* unit) {
    const std::optional<Dwarf_Die> origin = call_origin(site);
    if (!origin) return kUnknown;
    const auto [entry, is_new] = targets_.try_emplace({unit, origin->addr}, kUnknown);
    if (is_new) entry->second = find_target(*origin, unit);
    return entry->second;
  }

  uint64_t find_target(Dwarf_Die origin, UnitCalls* unit) {
    const std::vector<AddressRange> ranges = code_ranges(&origin, index_.executable());
    if (!ranges.empty()) return ranges.front().low;
    const FunctionIdentity function = identify(origin);
    if (const std::optional<uint64_t> low = unit->find_copy(function.root)) return *low;
    if (function.symbol == nullptr) return kUnknown;
    if (!symbols_) symbols_.emplace(file_.module(), file_.executable(), file_.code_sections());
    if (symbols_->has_global(function.symbol)) {
      const FunctionSymbol* const symbol = symbols_->find_global(function.symbol);
      if (symbol == nullptr || symbol->is_indirect) return kUnknown;
      const UnitFunction* const found = function_at(symbol->low - bias_).first;
      return found != nullptr && found->low == symbol->low - bias_ ? found->low : kUnknown;
    }
    if (is_allocator_symbol(function.symbol)) return kAllocation;
    return is_end_symbol(function.symbol) ? kHarmless : kUnknown;
  }

  // The reference stays valid.
  const Node& node(uint64_t low) {
    const auto [entry, is_new] = nodes_.try_emplace(low);
    Node& node = entry->second;
    if (!is_new) return node;
    if (low == kAllocation) {
      node.jumps.are_known = true;
      return node;
    }
    const auto [function, unit] = function_at(low);
    if (function == nullptr || function->low != low) return node;
    Dwarf_Die die = function->die;
    node.jumps.are_known = describes_tail_calls(&die);
    for (Dwarf_Die site : function->calls) {
      if (!is_tail_call(&site)) continue;
      const uint64_t target = target_of(&site, unit);
      if (target == kUnknown) node.jumps.are_known = false;
      if (target == kUnknown || target == kHarmless) continue;
      const uint64_t at = call_address(&site);
      const auto [jump, is_first] = node.jump_to.try_emplace(target, at);
      if (is_first) node.jumps.targets.push_back(target);
      // An address elsewhere is no jump of this function.
      if (jump->second != at || unit->find(at) != function) jump->second = 0;
    }
    return node;
  }

  const DebugFile& file_;
  Dwarf_Addr bias_;
  UnitIndex index_;
  DieShapesCache shapes_;
  std::optional<FunctionSymbols> symbols_;
  std::unordered_map<const void*, std::unique_ptr<UnitCalls>> units_;  // by the entry's address in memory
  std::map<std::pair<const UnitCalls*, const void*>, uint64_t> targets_;
  std::unordered_map<uint64_t, Node> nodes_;
  // The calls of a function, by return address.
  std::unordered_map<const UnitFunction*, std::unordered_multimap<uint64_t, uint32_t>> returns_;
  size_t entries_ = 0;
  size_t steps_ = 0;
};

}  // namespace

LeftFunctions find_left_functions(const DebugFile& file, Dwarf* dwarf, Dwarf_Addr bias,
                                  std::span<const CallPair> pairs) {
  LeftFunctions left;
  ModuleCalls calls(file, dwarf, bias);
  for (const CallPair& pair : pairs) {
    std::vector<LeftFunction> found = calls.find(pair);
    if (!found.empty()) left.emplace(pair, std::move(found));
  }
  return left;
}

}  // namespace heapprof::cli
