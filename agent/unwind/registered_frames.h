// agent/unwind/registered_frames.h: unwind rules of code in no object, which its compiler described: LLVM (lli,
// numba, Postgres, Julia) gives libgcc an .eh_frame section for code that it compiled (__register_frame).
//
// Guarantees
//  - A section is read once, when it is registered, and through the kernel, so that no section can cause a fault. Only
//    compact rules of it are kept; the program's memory is not read later.
//  - A rule holds until its section is deregistered, or another one is registered for the same addresses.
// Not provided: rows that are no compact rule (expressions, other registers); more than 256 KiB of a section; more than
//               131,072 rows or 1,024 sections in all: such frames count as undescribed. A section that the program
//               registers under a seccomp filter (nothing can be read).
// Context:  registering: a hook, outside events. Look-up: slow path of a hook, without a lock.
// Cost:     registering: 1 µs, and 1 µs a function. Look-up: 1 ns a section. 2.4 MiB of address space, from the first
//           section on; touched as it is used.
#pragma once

#include "agent/unwind/unwind_rule.h"

#include <cstdint>

namespace heapprof::agent {

void note_registered_frames(const void* section);
void note_deregistered_frames(const void* section);

// row_avma: inside an instruction (a return address − 1). False: no section describes it.
bool find_registered_rule(uint64_t row_avma, StepRule* rule);

}  // namespace heapprof::agent
