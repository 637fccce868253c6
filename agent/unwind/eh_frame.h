// agent/unwind/eh_frame.h: from an address to the description of its function in .eh_frame.
//
// Guarantees
//  - Reads only the module's own table memory (ModuleInfo::table_*); a malformed table means "no description".
// Context:  slow path of a hook: no lock, no allocation.
// Cost:     50-100 ns with a sorted table; without one a scan of at most kMaxScanBytes of .eh_frame.
#pragma once

#include "agent/process/modules.h"

#include <cstdint>

namespace heapprof::agent {

// A table that the linker did not sort is searched this far; the rules found are cached like all others.
inline constexpr uint64_t kMaxScanBytes = 256u << 10;

// One function's FDE together with its CIE.
struct FrameDescription {
  uint64_t start_avma;
  uint64_t end_avma;
  const uint8_t* initial_program;  // the CIE's: the row at the function's entry
  const uint8_t* initial_program_end;
  const uint8_t* program;  // the FDE's: how the row changes
  const uint8_t* program_end;
  const uint8_t* readable_end;  // end of the module's table memory: bounds the expressions
  uint64_t code_alignment;
  int64_t data_alignment;
  uint32_t return_register;
  uint8_t pointer_encoding;
  bool is_signal_frame;  // the caller was interrupted: its program counter is not a return address
};

// Reads the description of one function, including its addresses. fde_avma: its length field. False: it is malformed,
// or no description.
bool read_description(const ModuleInfo& module, uint64_t fde_avma, FrameDescription* description);

// pre: pc_avma is an address inside an instruction (a return address − 1).
bool find_description(const ModuleInfo& module, uint64_t pc_avma, FrameDescription* description);

}  // namespace heapprof::agent
