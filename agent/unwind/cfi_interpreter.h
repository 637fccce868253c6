// agent/unwind/cfi_interpreter.h: steps from a frame to its caller using all of the frame's call frame information.
//
// Guarantees
//  - Restores every register that the information describes. If a register's rule needs an unknown register, it becomes
//    unknown, too.
//  - After a signal frame the program counter is the interrupted address + 1 (shared/events.h).
// Context:  slow path of a hook: rules that are not compact (expressions, other registers, signal frames).
// Cost:     about 1 µs a frame.
#pragma once

#include "agent/arch/arch.h"
#include "agent/unwind/cfi_program.h"

#include <cstdint>

namespace heapprof::agent {

enum class Step : uint8_t {
  kDone,  // *registers is the caller's
  kEndOfStack,
  kNoUnwindInfo,
  kUnknownRegister,  // the CFA or the return address needs a register that is not known
  kBadFrame,         // the result cannot be a frame
};

// Changes *registers only if it returns kDone. *has_jumped becomes true if the caller's frame does not lie above this
// one, as when a signal handler has a stack of its own.
Step step_frame(uint32_t generation, CfiWorkspace* workspace, Registers* registers, bool* has_jumped);

}  // namespace heapprof::agent
