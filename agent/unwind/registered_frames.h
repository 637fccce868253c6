// agent/unwind/registered_frames.h: unwind rules for JIT code, which is in no loaded object. LLVM (lli, numba,
// Postgres, Julia) describes the code that it compiled: it gives libgcc an .eh_frame section (__register_frame).
//
// Guarantees
//  - A section is read once, when it is registered. It is read through the kernel, so no section can cause a fault.
//    Only its compact rules are kept; the program's memory is not read later.
//  - A rule holds until its section is deregistered, or another one is registered for the same addresses.
// Not provided: rows that do not reduce to a compact rule (expressions, other registers); more than 256 KiB of a
//               section; more than 131,072 rows or 1,024 sections in all; a section that the program registers under a
//               seccomp filter, because it cannot be read. Such frames count as undescribed.
// Context:  registering: in a hook, outside events. Look-up: slow path of a hook, without a lock.
// Cost:     registering: 1 µs, and 1 µs for each function. Look-up: 1 ns for each section. The first section maps 2.4
//           MiB of address space, whose pages are touched only as they are used.
#pragma once

#include "agent/unwind/unwind_rule.h"

#include <cstdint>

namespace heapprof::agent {

void note_registered_frames(const void* section);
void note_deregistered_frames(const void* section);

// row_avma: an address inside an instruction (a return address − 1). False: no section describes it.
bool find_registered_rule(uint64_t row_avma, StepRule* rule);

}  // namespace heapprof::agent
