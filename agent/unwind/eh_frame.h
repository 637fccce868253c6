// agent/unwind/eh_frame.h: finds the description in .eh_frame of the function that holds an address.
//
// Guarantees
//  - Reads only the module's own table memory (ModuleInfo::table_*); a malformed table means "no description".
// Context:  slow path of a hook: no lock, no allocation.
// Cost:     50-100 ns with a sorted table; without one a scan of at most kMaxScanBytes of .eh_frame.
#pragma once

#include "agent/process/modules.h"

#include <cstdint>

namespace heapprof::agent {

// If the linker did not sort a table, only this many bytes are searched. The rules found are cached like all others.
inline constexpr uint64_t kMaxScanBytes = 256u << 10;

// One function's FDE together with its CIE.
struct FrameDescription {
  uint64_t start_avma;
  uint64_t end_avma;
  const uint8_t* initial_program;  // the CIE's program: sets the row at the function's entry
  const uint8_t* initial_program_end;
  const uint8_t* program;  // the FDE's program: changes the row
  const uint8_t* program_end;
  const uint8_t* readable_end;  // end of the module's table memory: bounds the expressions
  uint64_t code_alignment;
  int64_t data_alignment;
  uint32_t return_register;
  uint8_t pointer_encoding;
  bool is_signal_frame;  // the caller was interrupted: its program counter is not a return address
};

// Reads the description of one function, including its addresses. fde_avma: the address of the FDE's length field.
// False: the description is malformed, or this is not an FDE.
bool read_description(const ModuleInfo& module, uint64_t fde_avma, FrameDescription* description);

// pre: pc_avma is an address inside an instruction (a return address − 1).
bool find_description(const ModuleInfo& module, uint64_t pc_avma, FrameDescription* description);

}  // namespace heapprof::agent
