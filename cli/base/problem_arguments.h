// cli/base/problem_arguments.h: what problems are made of where a word or a number alone would not say what it is.
#pragma once

#include <cstdint>
#include <string>

namespace heapprof::cli {

struct Share {
  uint64_t count = 0;
  uint64_t all = 0;
};
struct Versions {
  uint64_t found = 0;
  uint64_t known = 0;
};
struct Sizes {
  uint64_t found_bytes = 0;
  uint64_t limit_bytes = 0;
};

// What is known on this machine of a module without names.
struct NamesAdvice {
  std::string package;  // whose file it is; empty: unknown
  std::string fix;      // commands that name the profile; empty: none are known
};

struct FileLine {
  std::string file;
  uint64_t line = 0;
};

}  // namespace heapprof::cli
