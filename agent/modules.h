// agent/modules.h: which loaded object an address belongs to, where its unwind table is, and telling the collector.
//
// Guarantees
//  - A module's entry is in the arena's table before find_module returns it, so before any record with its addresses.
//  - No lock that a hook's caller could hold, no dl_iterate_phdr, no allocation.
//
// Context:  the slow path of a hook (first sight of a program counter).
// Order:    (D) the entry is written before Control::module_bytes is release-stored; the collector acquire-loads it.
#pragma once

#include <cstdint>

namespace heapprof::agent {

struct ModuleInfo {
  uint64_t start_avma;
  uint64_t end_avma;
  const uint8_t* eh_frame_hdr;  // nullptr: none
};

// The object that holds pc_avma; false if none does (JIT code, vdso without entry …). Announces it to the collector.
bool find_module(uint64_t pc_avma, ModuleInfo* info);

}  // namespace heapprof::agent
