// agent/unwind/target_memory.cc: reads the target's memory where call frame information says that a register or a frame
// is.
//
// It has a file of its own so that the fuzz target, whose information is nonsense, can bring another
// (tests/fuzz/unwind_fuzz.cc).
#include "agent/unwind/dwarf_expression.h"

#include <string.h>

namespace heapprof::agent {

bool read_target_memory(uint64_t avma, uint32_t size_bytes, uint64_t* value) {
  if (!is_plausible_address(avma)) return false;
  const auto* at = reinterpret_cast<const void*>(avma);
  *value = 0;
  switch (size_bytes) {
    case 1: memcpy(value, at, 1); return true;
    case 2: memcpy(value, at, 2); return true;
    case 4: memcpy(value, at, 4); return true;
    case 8: memcpy(value, at, 8); return true;
    default: return false;
  }
}

}  // namespace heapprof::agent
