// agent/process/called_slots.cc: see called_slots.h.
#include "agent/process/called_slots.h"

#include "agent/libc/raw.h"
#include "agent/process/loaded_object.h"

#include <sys/uio.h>

namespace heapprof::agent {

void CalledSlots::read_code(const link_map* object) {
  if (count_ == 0) return;
  const ProgramHeaders headers = headers_of_object(object);
  for (uint32_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& part = headers.first[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uint64_t end_avma = object->l_addr + part.p_vaddr + part.p_filesz;
    for (uint64_t at_avma = object->l_addr + part.p_vaddr; at_avma + kCallBytes <= end_avma;
         at_avma += kPieceBytes - kCallBytes + 1)
      read_piece(at_avma, end_avma - at_avma < kPieceBytes ? end_avma - at_avma : kPieceBytes);
  }
}

void CalledSlots::read_piece(uint64_t at_avma, uint64_t bytes) {
  unsigned char code[kPieceBytes];
  iovec to{code, bytes};
  iovec from{reinterpret_cast<void*>(at_avma), bytes};
  if (raw_syscall(SYS_process_vm_readv, sys_gettid(), reinterpret_cast<long>(&to), 1, reinterpret_cast<long>(&from), 1,
                  0) != static_cast<long>(bytes))
    return;
  for (uint64_t i = 0; i + kCallBytes <= bytes; ++i) {
    const uint64_t slot_avma = used_slot(code + i, at_avma + i + kCallBytes);
    if (slot_avma == 0) continue;
    for (size_t k = 0; k < count_; ++k) {
      if (slots_[k].avma == slot_avma) slots_[k].is_called = true;
    }
  }
}

}  // namespace heapprof::agent
