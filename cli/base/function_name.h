// cli/base/function_name.h: demangled names of functions as people call them, and shorter where there is no room.
//
// Trust:    names come from strangers' programs: any bytes are taken; what cannot be parsed comes back as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heapprof::cli {

// Without return type, parameters, qualifiers, ABI tags, clone suffixes and the default arguments of std's templates:
// "void pool::Map<int, std::allocator<int> >::put(int) const" is "pool::Map<int>::put".
std::string plain_function(std::string_view demangled);

// "app::pool::Map<int>::put" is "Map<int>::put": what is enough beside other names.
std::string last_two_parts(std::string_view name);

// What stands behind the name of a function that was inferred (cli/model/profile/inferred_calls.h).
inline constexpr std::string_view kInferredMark = " (inferred)";

// At most `columns` wide: template arguments go first, the innermost before the outer, then leading namespaces, then
// the middle; of Rust's "<a::Disk as b::Store>::load" the paths of type and trait, then the trait: "<Disk>::load";
// kInferredMark stays as long as there is room for some of the name beside it.
std::string shorten_function(std::string_view name, size_t columns);

}  // namespace heapprof::cli
