// cli/base/function_name.h: demangled function names as people write them, shortened to fit.
//
// Trust:    names are untrusted: any bytes are accepted; a name that cannot be parsed is returned unchanged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heapprof::cli {

// Removes return type, parameters, qualifiers, ABI tags, clone suffixes and the default arguments of std's templates:
// "void pool::Map<int, std::allocator<int> >::put(int) const" becomes "pool::Map<int>::put".
std::string plain_function(std::string_view demangled);

// "app::pool::Map<int>::put" becomes "Map<int>::put", which is enough in a list of names.
std::string last_two_parts(std::string_view name);

// Follows the name of a function that was inferred (cli/model/profile/inferred_calls.h).
inline constexpr std::string_view kInferredMark = " (inferred)";

// Returns a name that is at most `columns` wide. Removes template arguments first, the innermost before the outer, then
// leading namespaces, then the middle. In Rust's "<a::Disk as b::Store>::load", removes the paths of type and trait
// first, then the trait: "<Disk>::load". Keeps kInferredMark as long as some of the name fits next to it.
std::string shorten_function(std::string_view name, size_t columns);

}  // namespace heapprof::cli
