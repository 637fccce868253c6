// cli/symbolize/source_path.h: one spelling for each source file.
//
// Compilers write names relative to the compilation's directory, and clang finds libstdc++ as
// /usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/vector: unchanged, one header would be many files.
#pragma once

#include <string>
#include <string_view>

namespace heapprof::cli {

// `file`, made absolute by `directory` (if that is absolute), without empty, "." and ".." parts. Purely lexical: after
// a symbolic link before a "..", the result may name another file.
std::string source_path(std::string_view directory, std::string_view file);

}  // namespace heapprof::cli
