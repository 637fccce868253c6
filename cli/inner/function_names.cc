// cli/inner/function_names.cc: a table of whole names; jemalloc's prefixes are stripped.
#include "cli/inner/function_names.h"

#include <array>
#include <unordered_map>

namespace heapprof::cli {

namespace {

using Kind = wire::AllocatorKind;
using Role = wire::AllocatorRole;
using enum wire::AllocatorRole;
using wire::allocator_function;

using Table = std::unordered_map<std::string_view, NamedFunction>;

constexpr std::array<std::string_view, 5> kJemallocPrefixes = {"_rjem_", "je_", "rjem_", "jemalloc_", "__je_"};
constexpr std::array<std::string_view, 2> kOtherPrefixes = {"tc_", "mi_"};

std::string group_of(std::string_view name) {
  for (const std::string_view prefix : kJemallocPrefixes) {
    if (name.starts_with(prefix)) return std::string(prefix);
  }
  for (const std::string_view prefix : kOtherPrefixes) {
    if (name.starts_with(prefix)) return std::string(prefix);
  }
  return {};
}

void add_operators(Table* table) {
  const auto add = [table](std::string_view name, wire::AllocatorFunction what) { (*table)[name] = {what, "", false}; };
  add("_Znwm", allocator_function(Kind::Allocate, Size));
  add("_Znam", allocator_function(Kind::Allocate, Size));
  add("_ZnwmRKSt9nothrow_t", allocator_function(Kind::Allocate, Size, Other));
  add("_ZnamRKSt9nothrow_t", allocator_function(Kind::Allocate, Size, Other));
  add("_ZnwmSt11align_val_t", allocator_function(Kind::Allocate, Size, Alignment));
  add("_ZnamSt11align_val_t", allocator_function(Kind::Allocate, Size, Alignment));
  add("_ZnwmSt11align_val_tRKSt9nothrow_t", allocator_function(Kind::Allocate, Size, Alignment, Other));
  add("_ZnamSt11align_val_tRKSt9nothrow_t", allocator_function(Kind::Allocate, Size, Alignment, Other));
  add("_ZdlPv", allocator_function(Kind::Release, Block));
  add("_ZdaPv", allocator_function(Kind::Release, Block));
  add("_ZdlPvm", allocator_function(Kind::Release, Block, Size));
  add("_ZdaPvm", allocator_function(Kind::Release, Block, Size));
  add("_ZdlPvRKSt9nothrow_t", allocator_function(Kind::Release, Block, Other));
  add("_ZdaPvRKSt9nothrow_t", allocator_function(Kind::Release, Block, Other));
  add("_ZdlPvSt11align_val_t", allocator_function(Kind::Release, Block, Alignment));
  add("_ZdaPvSt11align_val_t", allocator_function(Kind::Release, Block, Alignment));
  add("_ZdlPvmSt11align_val_t", allocator_function(Kind::Release, Block, Size, Alignment));
  add("_ZdaPvmSt11align_val_t", allocator_function(Kind::Release, Block, Size, Alignment));
  add("_ZdlPvSt11align_val_tRKSt9nothrow_t", allocator_function(Kind::Release, Block, Alignment, Other));
  add("_ZdaPvSt11align_val_tRKSt9nothrow_t", allocator_function(Kind::Release, Block, Alignment, Other));
}

Table make_table() {
  Table table;
#define X(name, kind, ...) table[#name] = {allocator_function(Kind::kind, __VA_ARGS__), group_of(#name), false};
#include "shared/allocator_names.def"
#undef X
  const auto family = [&table](std::string_view name, wire::AllocatorFunction what) { table[name] = {what, "", true}; };
  family("malloc", allocator_function(Kind::Allocate, Size));
  family("calloc", allocator_function(Kind::Allocate, Count, Size));
  family("realloc", allocator_function(Kind::Reallocate, Block, Size));
  family("reallocarray", allocator_function(Kind::Reallocate, Block, Count, Size));
  family("free", allocator_function(Kind::Release, Block));
  family("memalign", allocator_function(Kind::Allocate, Alignment, Size));
  family("aligned_alloc", allocator_function(Kind::Allocate, Alignment, Size));
  family("posix_memalign", allocator_function(Kind::AllocateInto, Out, Alignment, Size));
  family("valloc", allocator_function(Kind::Allocate, Size));
  family("pvalloc", allocator_function(Kind::Allocate, Size));
  family("free_sized", allocator_function(Kind::Release, Block, Size));
  family("free_aligned_sized", allocator_function(Kind::Release, Block, Alignment, Size));
  add_operators(&table);
  return table;
}

const Table& all_names() {
  static const Table table = make_table();
  return table;
}

}  // namespace

std::optional<NamedFunction> named_function(std::string_view name) {
  const Table& table = all_names();
  if (const auto found = table.find(name); found != table.end()) return found->second;
  for (const std::string_view prefix : kJemallocPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string plain = "je_" + std::string(name.substr(prefix.size()));
    const auto found = table.find(plain);
    if (found == table.end()) return std::nullopt;
    NamedFunction function = found->second;
    function.group = std::string(prefix);
    return function;
  }
  return std::nullopt;
}

std::string allocator_of(std::string_view function_name) {
  const std::string group = group_of(function_name);
  if (group == "tc_") return "tcmalloc";
  if (group == "mi_") return "mimalloc";
  if (!group.empty() || function_name == "mallocx" || function_name == "sdallocx") return "jemalloc";
  return {};
}

}  // namespace heapprof::cli
