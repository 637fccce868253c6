// cli/collect/inner_program.h: what is known of allocators inside a program's executable before its agent is answered
// (cli/inner finds it out).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct InnerProgram {
  struct Allocator {
    std::string name;  // "jemalloc"
    uint32_t functions = 0;
  };
  std::vector<Allocator> allocators;  // by the number of their group in the plan
  std::vector<unsigned char> plan;    // shared/inner.h; empty: nothing is to be hooked
  std::vector<std::string> refusals;  // why there is no plan, by function
  std::vector<std::string> unseen;    // functions that give out blocks and are not hooked, although there is a plan
  std::string left_because;           // why no allocator is to be hooked, even if it could be; empty: no such reason
};

}  // namespace heapprof::cli
