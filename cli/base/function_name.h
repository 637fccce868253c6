// cli/base/function_name.h: demangled function names as people write them, shortened to fit.
//
// Trust:    names are untrusted: any bytes are accepted; a name that cannot be parsed is returned unchanged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heapprof::cli {

// Without return type, parameters, qualifiers, ABI tags, clone suffixes and the default arguments of std's templates:
// "void pool::Map<int, std::allocator<int> >::put(int) const" is "pool::Map<int>::put".
std::string plain_function(std::string_view demangled);

// "app::pool::Map<int>::put" is "Map<int>::put": enough in a list of names.
std::string last_two_parts(std::string_view name);

// Follows the name of a function that was inferred (cli/model/profile/inferred_calls.h).
inline constexpr std::string_view kInferredMark = " (inferred)";

// At most `columns` wide: template arguments go first, the innermost before the outer, then leading namespaces, then
// the middle; in Rust's "<a::Disk as b::Store>::load" the paths of type and trait go first, then the trait:
// "<Disk>::load". kInferredMark stays as long as some of the name fits next to it.
std::string shorten_function(std::string_view name, size_t columns);

}  // namespace heapprof::cli
