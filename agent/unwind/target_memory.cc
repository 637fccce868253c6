// agent/unwind/target_memory.cc: reads the target's memory at an address where call frame information places a register
// or a frame.
//
// It has a file of its own so that the fuzz target can replace it, because there the call frame information is nonsense
// (tests/fuzz/unwind_fuzz.cc).
#include "agent/unwind/dwarf_expression.h"

namespace heapprof::agent {

bool read_target_memory(KnownStacks* stacks, uint64_t avma, uint32_t size_bytes, uint64_t* value) {
  if (!is_plausible_address(avma)) return false;
  return size_bytes <= sizeof *value && stacks->read(avma, size_bytes, value);
}

}  // namespace heapprof::agent
