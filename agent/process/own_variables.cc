// agent/process/own_variables.cc: what own_variables.h asks of the kernel.
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

// Valgrind knows the instruction in its newest versions alone.
void settle_own_variables() {
  g_can_read_storage_register = (processor_flags() & kHasStorageInstruction) != 0 && !is_in_valgrind();
}

}  // namespace heapprof::agent
