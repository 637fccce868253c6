// agent/verify/reference_unwind.cc: unw_step from this library's own frame to the outermost one.
//
// libunwind keeps its rules for ever; after a dlclose another object may be loaded at the same addresses. The loader
// counts how many objects were ever removed, so every walk reads that count, and a change flushes the cache.
#include "agent/verify/reference_unwind.h"

#include "agent/arch/arch.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <link.h>

namespace {

unsigned long long g_removed_objects = 0;

int read_removed_objects(dl_phdr_info* info, size_t, void* count) {
  *static_cast<unsigned long long*>(count) = info->dlpi_subs;
  return 1;  // the count is the same for every object
}

void forget_unloaded_rules() {
  unsigned long long removed = 0;
  dl_iterate_phdr(read_removed_objects, &removed);
  if (__atomic_exchange_n(&g_removed_objects, removed, __ATOMIC_RELAXED) != removed)
    unw_flush_cache(unw_local_addr_space, 0, 0);
}

}  // namespace

uint32_t heapprof_reference_unwind(uint64_t start_pc, uint64_t start_sp, uint64_t* pcs, uint32_t max) {
  forget_unloaded_rules();
  unw_context_t context;
  unw_cursor_t cursor;
  if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0) return 0;
  uint32_t count = 0;
  bool is_behind_trampoline = false;
  unw_word_t last_pc = 0;
  unw_word_t last_sp = 0;
  for (;;) {
    unw_word_t pc = 0;
    unw_word_t sp = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || unw_get_reg(&cursor, UNW_REG_SP, &sp) != 0 || pc == 0) break;
    if (pc == last_pc && sp == last_sp)
      break;  // on AArch64 an outermost frame that saves no return address comes twice
    last_pc = pc, last_sp = sp;
    // libunwind means the frame into which it stepped from what the handler returns to; or that itself, where it has to
    // recognize its code for want of call frame information.
    const bool is_signal_frame = unw_is_signal_frame(&cursor) > 0;
    if (count != 0 || (pc == start_pc && sp == start_sp)) {
      if (count == max) break;
      pcs[count++] = (heapprof::agent::kHasBareSignalReturn ? is_behind_trampoline : is_signal_frame) ? pc + 1 : pc;
    }
    is_behind_trampoline = is_signal_frame;
    if (unw_step(&cursor) <= 0) break;
  }
  return count;
}
