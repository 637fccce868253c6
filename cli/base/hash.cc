// cli/base/hash.cc: see hash.h.
#include "cli/base/hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace heapprof::cli {

std::string hash_digits(std::string_view text) {
  std::string digits;
  for (uint64_t hash : {0xcbf29ce484222325ull, 0x9ae16a3b2f90404full}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    digits += fmt::format("{:016x}", hash);
  }
  return digits;
}

}  // namespace heapprof::cli
