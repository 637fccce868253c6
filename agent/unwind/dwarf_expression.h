// agent/unwind/dwarf_expression.h: evaluates the DWARF expressions of call frame information.
//
// Guarantees
//  - Ends after kMaxExpressionSteps operations; refuses division by zero, jumps out of the expression and stack errors
//    (cfi_test.cc,
//    "expressions that cannot be computed are refused").
// Not provided: locations, pieces, types, thread-local storage: call frame information does not use them.
// Context:  slow path of a hook.
// Trust:    an expression may read memory at any address that it computes from registers. Memory outside the known
//           stacks is read through the kernel (agent/process/own_memory.h).
#pragma once

#include "agent/arch/arch.h"
#include "agent/unwind/cfi_program.h"

#include <cstdint>

namespace heapprof::agent {

inline constexpr uint32_t kMaxExpressionSteps = 1000;

enum class Evaluation : uint8_t {
  kDone,
  kUnknownRegister,  // the expression needs a register whose content is unknown
  kMalformed,
};

// block: the address of the expression's length field, within readable memory that ends at readable_end.
// initial: a value that is pushed first (the CFA), or nullptr.
Evaluation evaluate_expression(const uint8_t* block, const uint8_t* readable_end, const Registers& registers,
                               const uint64_t* initial, CfiWorkspace* workspace, uint64_t* result);

// False for addresses where nothing can be mapped: near 0 and beyond the user half of the address space.
inline bool is_plausible_address(uint64_t avma) { return avma >= 1u << 16 && avma < uint64_t{1} << 56; }

// Reads size_bytes (1, 2, 4 or 8) at avma. False: they cannot be read.
bool read_target_memory(KnownStacks* stacks, uint64_t avma, uint32_t size_bytes, uint64_t* value);

}  // namespace heapprof::agent
