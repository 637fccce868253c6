// cli/base/hash.h: short digests of names: the same digits for the same text, on every machine and in every version.
#pragma once

#include <string>
#include <string_view>

namespace heapprof::cli {

// 32 hexadecimal digits (FNV-1a with two start values): to distinguish names, not for security.
std::string hash_digits(std::string_view text);

}  // namespace heapprof::cli
