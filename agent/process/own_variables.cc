// agent/process/own_variables.cc: what own_variables.h asks of the kernel.
#include "agent/process/own_variables.h"

#include "agent/libc/valgrind.h"
#include "agent/process/early.h"
#include "agent/process/state.h"

namespace heapprof::agent {

bool g_can_read_storage_register = false;

uint64_t ask_storage_avma() {
  constexpr long kGetStorage = 0x1003;  // ARCH_GET_FS
  constexpr uint64_t kUnknown = 1;
  uint64_t avma = kUnknown;
  if (has_filters()) return kUnknown;
  return is_error(raw_syscall(SYS_arch_prctl, kGetStorage, reinterpret_cast<long>(&avma))) ? kUnknown : avma;
}

// Valgrind knows the instruction in its newest versions alone.
void settle_own_variables() {
  constexpr uint64_t kReadsRegister = 2;  // HWCAP2_FSGSBASE, since Linux 5.9
  g_can_read_storage_register = (processor_flags() & kReadsRegister) != 0 && !is_in_valgrind();
}

}  // namespace heapprof::agent
