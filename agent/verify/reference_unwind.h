// agent/verify/reference_unwind.h: the stack of a hook's caller by libunwind's unw_step, from libheapprof-verify.so.
//
// Guarantees
//  - The same convention as agent/unwind/unwind.h: program counters innermost first, an interrupted address + 1.
//  - Nothing that libunwind remembers survives the unloading of an object.
// Context:  inside a hook, only for --verify-stacks and --unwinder=libunwind. Takes the loader's lock and libunwind's,
//           and may allocate: the caller makes sure that these allocations are not recorded.
// Cost:     10-25 µs.
#pragma once

#include <cstdint>

extern "C" {

// Walks from inside itself to the frame whose program counter is start_pc and whose stack pointer is start_sp, then
// records at most `max` program counters from there on. Returns how many; 0: the frame was not found.
__attribute__((visibility("default"))) uint32_t heapprof_reference_unwind(uint64_t start_pc, uint64_t start_sp,
                                                                          uint64_t* pcs, uint32_t max);
}
