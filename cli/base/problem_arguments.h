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

// What was found on this machine about a module that has no symbols.
struct NamesAdvice {
  std::string package;  // the package that contains the module's file; empty: unknown
  std::string fix;      // commands that add the missing names to the profile; empty: unknown
};

struct FileLine {
  std::string file;
  uint64_t line = 0;
};

}  // namespace heapprof::cli
