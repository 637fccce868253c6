// cli/inner/function_names.h: recognises an allocator's functions by their names.
//
// Known are malloc's family, operator new and delete, the names of shared/allocator_names.def, and jemalloc's names
// after the prefixes that it is built with.
#pragma once

#include "shared/allocator_functions.h"

#include <optional>
#include <string>
#include <string_view>

namespace heapprof::cli {

struct NamedFunction {
  wire::AllocatorFunction what;
  std::string group;       // the prefix: "je_", "_rjem_", "tc_", "mi_"; empty: malloc's family and related names
  bool is_family = false;  // malloc or a related function, by its standard name
};
std::optional<NamedFunction> named_function(std::string_view name);

// Returns "jemalloc", "tcmalloc" or "mimalloc" if only that allocator has a function of this name. "": it is not known.
std::string allocator_of(std::string_view function_name);

}  // namespace heapprof::cli
