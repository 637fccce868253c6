// agent/unwind/stack_bounds.h: how far the memory reaches that a stack lies in, for walks that follow pointers which
// may be data.
//
// Guarantees
//  - [sp, end) is mapped and readable at the time of the call.
// Context:  slow path of a hook. Reads /proc/self/maps with raw system calls; the caller remembers the answer.
// Cost:     20-200 µs, by the number of mappings.
#pragma once

#include <cstdint>

namespace heapprof::agent {

struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;
  bool holds(uint64_t avma) const { return avma - start < end - start; }
};

// The mapping that holds sp; empty if /proc does not tell, or system calls are filtered.
AddressRange find_stack(uint64_t sp);

}  // namespace heapprof::agent
