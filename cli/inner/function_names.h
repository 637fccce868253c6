// cli/inner/function_names.h: which functions are an allocator's, by their names.
//
// Known are malloc's family, operator new and delete, the names of shared/allocator_names.def, and jemalloc's names
// behind the prefixes that it is built with.
#pragma once

#include "shared/allocator_functions.h"

#include <optional>
#include <string>
#include <string_view>

namespace heapprof::cli {

struct NamedFunction {
  wire::AllocatorFunction what;
  std::string group;       // the prefix: "je_", "_rjem_", "tc_", "mi_"; empty: malloc's family and what goes with it
  bool is_family = false;  // malloc and its kin, by its own name
};
std::optional<NamedFunction> named_function(std::string_view name);

// "jemalloc", "tcmalloc", "mimalloc": of the names that stand beside malloc. "": another one.
std::string allocator_of(std::string_view function_name);

}  // namespace heapprof::cli
