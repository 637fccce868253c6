// agent/unwind/registered_frames.h: unwind rules of code in no object, whose compiler described it: LLVM (lli, numba,
// Postgres, Julia) hands libgcc an .eh_frame section for what it compiled (__register_frame).
//
// Guarantees
//  - A section is read once, when it is registered, and through the kernel: no section faults, whatever it is. What is
//    kept of it is compact rules; nothing of the program's memory is read later.
//  - A rule holds until its section is deregistered, or another one is registered for the same addresses.
// Not provided: rows that are no compact rule (expressions, other registers): such a frame is as if undescribed. Of a
//               section more than 256 KiB; more than 131,072 rows or 1,024 sections of all: what has no room is as if
//               undescribed, too. A section of the program's under a filter of system calls (nothing can be read).
// Context:  registering: a hook, outside of events. Look-up: slow path of a hook, without a lock.
// Cost:     registering: 1 µs, and 1 µs a function. Look-up: 1 ns a section. 2.4 MiB of addresses, from the first
//           section on; touched as they are used.
#pragma once

#include "agent/unwind/unwind_rule.h"

#include <cstdint>

namespace heapprof::agent {

void note_registered_frames(const void* section);
void note_deregistered_frames(const void* section);

// row_avma: inside an instruction (a return address − 1). False: no section describes it.
bool find_registered_rule(uint64_t row_avma, StepRule* rule);

}  // namespace heapprof::agent
