// agent/unwind/cfi_program.h: runs call frame instructions up to an address, and returns the row that applies there.
//
// Guarantees
//  - Executes every DW_CFA instruction of DWARF 5 that .eh_frame may hold, and GNU's. Returns false at any other
//    instruction. Never reads past a program's end (tests/unit/agent_unwind/cfi_test.cc, and the fuzz target of unwind
//    tables).
// Context:  slow path of a hook. The rows are in the caller's workspace, because they are too large for the program's
//           stack.
// Cost:     0.1-0.5 µs.
#pragma once

#include "agent/arch/arch.h"
#include "agent/unwind/eh_frame.h"
#include "agent/unwind/stack_bounds.h"

#include <cstdint>

namespace heapprof::agent {

enum class RegisterRule : uint8_t {
  kUnspecified,  // as in the callee; but for the stack pointer: the CFA
  kUndefined,    // cannot be recovered
  kSame,         // as in the callee
  kOffset,       // saved at CFA + value
  kValueOffset,  // is CFA + value
  kRegister,     // is in register `value`
  // saved at the address that the expression computes; value: address of the expression's length field
  kExpression,
  kValueExpression,  // is the value that the expression computes
};

struct CfiRow {
  const uint8_t* cfa_expression;  // address of its length field; nullptr: CFA = cfa_register + cfa_offset
  uint64_t cfa_register;
  int64_t cfa_offset;
  int64_t values[kRegisterCount];
  RegisterRule rules[kRegisterCount];
};

inline constexpr uint32_t kMaxRememberedRows = 8;  // compilers need 1 or 2
inline constexpr uint32_t kMaxExpressionDepth = 64;

// Memory for one run, owned by an unwind context.
struct CfiWorkspace {
  CfiRow row;             // the result
  uint64_t row_end_avma;  // where the next row begins; ~0: this row is the program's last
  CfiRow initial;         // the row after the CIE's program: DW_CFA_restore restores its rules
  CfiRow remembered[kMaxRememberedRows];
  uint64_t expression_stack[kMaxExpressionDepth];
  KnownStacks* stacks;  // memory of known stacks is read directly
};

// Leaves the row at pc_avma in workspace->row. pre: description describes pc_avma.
bool run_cfi_program(const FrameDescription& description, uint64_t pc_avma, CfiWorkspace* workspace);

}  // namespace heapprof::agent
