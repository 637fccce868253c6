// cli/model/profile/fields.cc: the words for enumerators in the file.
#include "cli/model/profile/fields.h"

#include <array>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr std::array<std::pair<EndKind, std::string_view>, 6> kEnds = {{{EndKind::kExited, "exited"},
                                                                        {EndKind::kSignaled, "signaled"},
                                                                        {EndKind::kExec, "exec"},
                                                                        {EndKind::kUnknown, "unknown"},
                                                                        {EndKind::kDetached, "detached"},
                                                                        {EndKind::kRunning, "running"}}};
constexpr std::array<std::pair<Dialect, std::string_view>, 3> kDialects = {
    {{Dialect::kHeapprof, "heapprof"}, {Dialect::kValgrind, "valgrind"}, {Dialect::kDhatRs, "dhat-rs"}}};

constexpr std::array<std::pair<HolderKind, std::string_view>, 5> kHolders = {
    {{HolderKind::kVariable, "variable"},
     {HolderKind::kThreadLocal, "thread-local"},
     {HolderKind::kMapped, "mapped"},
     {HolderKind::kStack, "stack"},
     {HolderKind::kOther, "other"}}};

template <typename Table, typename Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return table[0].second;
}

template <typename Value, size_t N>
std::optional<Value> value_in(const std::array<std::pair<Value, std::string_view>, N>& table, std::string_view name) {
  for (const auto& [value, known] : table) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view holder_kind_name(HolderKind kind) { return name_in(kHolders, kind); }
std::optional<HolderKind> parse_holder_kind(std::string_view name) { return value_in(kHolders, name); }
std::string_view end_kind_name(EndKind kind) { return name_in(kEnds, kind); }
std::optional<EndKind> parse_end_kind(std::string_view name) { return value_in(kEnds, name); }
std::string_view dialect_name(Dialect dialect) { return name_in(kDialects, dialect); }
std::optional<Dialect> parse_dialect(std::string_view name) { return value_in(kDialects, name); }

}  // namespace heapprof::cli
