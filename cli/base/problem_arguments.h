// cli/base/problem_arguments.h: types for the arguments of problems, where a bare word or number would be ambiguous.
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

// What is known on this machine about a module without names.
struct NamesAdvice {
  std::string package;  // that has the file; empty: unknown
  std::string fix;      // commands that name the profile; empty: none are known
};

struct FileLine {
  std::string file;
  uint64_t line = 0;
};

}  // namespace heapprof::cli
