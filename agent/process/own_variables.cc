// agent/process/own_variables.cc: the parts of own_variables.h that ask the kernel.
#include "agent/process/own_variables.h"

#include "agent/libc/valgrind.h"
#include "agent/process/early.h"
#include "agent/process/state.h"

namespace heapprof::agent {

bool g_can_read_storage_register = false;

uint64_t ask_storage_avma() {
  constexpr uint64_t kUnknown = 1;
  return has_filters() ? kUnknown : ask_storage_register(kUnknown);
}

// Only the newest versions of Valgrind know the instruction.
void settle_own_variables() {
  g_can_read_storage_register = has_storage_instruction(processor_flags()) && !is_in_valgrind();
}

}  // namespace heapprof::agent
