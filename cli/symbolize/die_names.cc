// cli/symbolize/die_names.cc: an inlined copy names its function by DW_AT_abstract_origin, a definition its declaration
// by DW_AT_specification; both may follow each other, and point into other units and into dwz's supplement.
#include "cli/symbolize/die_names.h"

#include "cli/symbolize/symbolizer.h"

#include <dwarf.h>

#include <cstring>

namespace heapprof::cli {
namespace {

constexpr int kMaxOrigins = 16;
constexpr int kMaxScopes = 64;  // namespaces, classes and functions inside each other

const char* string_of(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute memory;
  Dwarf_Attribute* found = dwarf_attr(die, attribute, &memory);
  return found == nullptr ? nullptr : dwarf_formstring(found);
}

bool follow(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute memory;
  Dwarf_Die target;
  Dwarf_Attribute* found = dwarf_attr(die, attribute, &memory);
  if (found == nullptr || dwarf_formref_die(found, &target) == nullptr) return false;
  *die = target;
  return true;
}

// Whether a unit is in C, whose names are all bare, and complete.
bool is_c(Dwarf_Die* unit) {
  int language = dwarf_srclang(unit);
  return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
}

// The language of a unit whose names in the debug information are complete.
enum class WholeNames { kNo, kAda, kFortran };

WholeNames whole_names(Dwarf_Die* unit) {
  constexpr int kAda2005 = 0x2e;
  constexpr int kAda2012 = 0x2f;
  switch (dwarf_srclang(unit)) {
    case DW_LANG_Ada83:
    case DW_LANG_Ada95:
    case kAda2005:
    case kAda2012: return WholeNames::kAda;
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08: return WholeNames::kFortran;
    default: return WholeNames::kNo;
  }
}

}  // namespace

void DieNames::ScopeWalk::enter(const DieReader& reader) {
  int depth = reader.depth();
  if (depth <= function_depth_) function_depth_ = -1;
  while (!open_.empty() && open_.back().depth >= depth) open_.pop_back();
  switch (reader.tag()) {
    case DW_TAG_subprogram:
      if (reader.has_bare_name() && !open_.empty()) names_->scope_of_[reader.die().addr] = innermost();
      function_ = reader.die();
      function_depth_ = depth;
      break;
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      if (!reader.has_children()) break;
      if (function_depth_ >= 0 && (open_.empty() || open_.back().depth < function_depth_)) {
        open_.push_back({function_depth_, names_->add_scope(function_, innermost())});
      }
      open_.push_back({depth, names_->add_scope(reader.die(), innermost())});
      break;
    default: break;
  }
}

uint32_t DieNames::add_scope(const Dwarf_Die& die, uint32_t outer) {
  scopes_.push_back({die, outer});
  return static_cast<uint32_t>(scopes_.size() - 1);
}

uint32_t DieNames::scope_of(const Dwarf_Die& die) {
  if (!walked_.contains(die.cu)) {
    ScopeWalk walk(this, die.cu);
    Dwarf_Die unit;
    if (dwarf_cu_die(die.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) != nullptr && !is_c(&unit)) {
      for (DieReader reader(unit, shapes_); reader.next();) walk.enter(reader);
    }
  }
  auto found = scope_of_.find(die.addr);
  return found == scope_of_.end() ? kNoScope : found->second;
}

// The prefix of a bare name. A class inside a function ends the chain: the function's own name has the rest.
std::string DieNames::prefix(uint32_t scope, const char* plain, int depth) {
  std::string text;
  for (; scope != kNoScope && depth < kMaxScopes; ++depth) {
    Dwarf_Die die = scopes_[scope].die;
    if (dwarf_tag(&die) == DW_TAG_subprogram) return name(die, depth + 1).text + "::" + text;
    const char* own = string_of(&die, DW_AT_name);
    if (own == nullptr && dwarf_tag(&die) == DW_TAG_namespace) own = "(anonymous namespace)";
    if (own == nullptr) own = std::strcmp(plain, "operator()") == 0 ? "{lambda}" : "{unnamed}";
    text = own + ("::" + text);
    scope = scopes_[scope].outer;
  }
  return text;
}

const DieName& DieNames::name(Dwarf_Die die, int depth) {
  if (dwarf_tag(&die) == DW_TAG_inlined_subroutine) follow(&die, DW_AT_abstract_origin);  // all copies share one entry
  auto [entry, is_new] = names_.try_emplace(die.addr);
  DieName& result = entry->second;
  if (!is_new) return result;
  Dwarf_Die unit;
  const bool has_unit = dwarf_cu_die(die.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) != nullptr;
  const WholeNames whole = has_unit ? whole_names(&unit) : WholeNames::kNo;
  const char* label = nullptr;  // an unmangled linkage name
  for (int steps = 0; steps < kMaxOrigins; ++steps) {
    const char* linkage = string_of(&die, DW_AT_linkage_name);
    if (linkage == nullptr) linkage = string_of(&die, DW_AT_MIPS_linkage_name);
    if (linkage != nullptr && linkage[0] != '\0') {
      std::string text = demangle(linkage);
      if (text != linkage) {
        result = {std::move(text), true};
        return result;
      }
      if (label == nullptr) label = linkage;
    }
    const char* plain = result.text.empty() ? string_of(&die, DW_AT_name) : nullptr;
    if (plain != nullptr && plain[0] != '\0') result.text = prefix(scope_of(die), plain, depth) + plain;
    if (!follow(&die, DW_AT_abstract_origin) && !follow(&die, DW_AT_specification)) break;
  }
  if (result.text.empty() && label != nullptr) result.text = label;
  if (whole == WholeNames::kAda) result.text = demangle_ada(result.text);
  // In these languages the symbol says no more than the name: "store__load__2", "solve_".
  result.is_mangled = result.is_mangled || whole != WholeNames::kNo;
  return result;
}

}  // namespace heapprof::cli
