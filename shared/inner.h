// shared/inner.h: the plan by which the agent hooks an allocator inside the executable, by patching its code.
//
// Such functions cannot be interposed by name: calls of them are bound when the program is linked. So a jump replaces
// their first instructions. The collector makes the plan from the executable's symbols and code (cli/inner), and puts
// it into the arena before the agent gets the arena; the agent checks the plan and carries it out
// (agent/hooks/inner.h).
//
//   [InnerPlan][InnerFunction × function_count][InnerRange × range_count]
//
// Guarantees
//  - Every structure has a fixed size, checked here; a change of any of them changes kProtocolVersion.
// Trust:    the agent trusts the collector, and compares the program's bytes before it writes.
#pragma once

#include "shared/allocator_functions.h"

#include <cstddef>
#include <cstdint>

namespace heapprof::wire {

inline constexpr uint32_t kMostInnerFunctions = 512;
inline constexpr uint32_t kMostInnerRanges = 16'384;
inline constexpr size_t kMostPatchBytes = 24;    // most bytes of the instructions that a jump replaces
inline constexpr size_t kMostMovedBytes = 64;    // most bytes of the same instructions, relocated into a trampoline
inline constexpr size_t kMostMovedOperands = 4;  // most operands in these that are relative to their own address
inline constexpr size_t kJumpBytes = 5;          // jmp rel32

enum class MovedValue : uint8_t {
  kDistance = 0,      // to the target, from the end of the instruction
  kLowAddress = 1,    // the lower half of the target's address
  kUpperAddress = 2,  // the upper half
};

// Four bytes of a moved instruction whose value depends on its address and its target's.
struct MovedOperand {
  uint64_t target_svma;
  uint8_t at;   // their offset in `moved`
  uint8_t end;  // where in `moved` the instruction ends
  MovedValue value;
  uint8_t reserved[5];
};
static_assert(sizeof(MovedOperand) == 16);

struct InnerFunction {
  uint64_t patch_svma;  // the first replaced byte: the function's entry, or the byte after its endbr64
  AllocatorFunction what;
  uint8_t group;        // the allocator's number: its functions have one prefix in their names
  uint8_t patch_bytes;  // size of the replaced whole instructions: kJumpBytes at least
  uint8_t moved_bytes;  // the moved code ends with a jump to after the patch, or with the function's end
  uint8_t operand_count;
  uint8_t pushes_return;  // 1: a call is moved, as a push of its return address and a jump
  uint8_t is_small;       // 1: it gives out only small blocks
  uint8_t reserved[3];
  uint8_t original[kMostPatchBytes];
  uint8_t moved[kMostMovedBytes];
  MovedOperand operands[kMostMovedOperands];
};
static_assert(sizeof(InnerFunction) == 8 + 7 + 9 + 24 + 64 + 64);

// Code of an allocator: what its functions call, directly or not. svma, relative to InnerPlan::base_svma.
struct InnerRange {
  uint32_t start;
  uint32_t end;
};

struct InnerPlan {
  uint32_t function_count;
  uint32_t range_count;
  uint64_t base_svma;   // the lowest address of the executable's segments
  uint64_t limit_svma;  // one past the highest
  // Functions of mimalloc that find the blocks of a heap that is destroyed; 0: this mimalloc lacks them.
  uint64_t visit_blocks_svma;
  uint64_t backing_heap_svma;
};
static_assert(sizeof(InnerPlan) == 40);

inline constexpr uint64_t kInnerPlanBytes = 256u << 10;
static_assert(sizeof(InnerPlan) + kMostInnerFunctions * sizeof(InnerFunction) + kMostInnerRanges * sizeof(InnerRange) <=
              kInnerPlanBytes);

// Whether the agent carried out the plan, or why not. Numbers are part of the protocol: append only.
#define HEAPPROF_INNER_STATES(X)                                                                         \
  X(kNone, 0, nullptr)                                                                                   \
  X(kHooked, 1, nullptr)                                                                                 \
  X(kThreads, 2, "the program had more than one thread before the agent started")                        \
  X(kOtherCode, 3, "its code in memory is not that of its file")                                         \
  X(kNoRoom, 4, "no memory is available near its code")                                                  \
  X(kProtected, 5, "the system forbids changing code (SELinux, seccomp, PR_SET_MDWE …)")                 \
  X(kNotTried, 6, "it could not be tried in a copy of the process")                                      \
  X(kShadowStack, 8, "a function begins with a call, and the processor watches returns (shadow stacks)") \
  X(kOtherResult, 9, "it behaved in another way when it was hooked in a copy of the process")            \
  X(kFiltered, 7, "the program runs under a seccomp filter that heapprof does not have")

enum class InnerState : uint32_t {
#define X(name, number, text) name = number,
  HEAPPROF_INNER_STATES(X)
#undef X
};

// Why the plan was not carried out; nullptr: it was, or there is no plan.
constexpr const char* inner_state_text(InnerState state) {
  switch (state) {
#define X(name, number, text) \
  case InnerState::name: return text;
    HEAPPROF_INNER_STATES(X)
#undef X
  }
  return "for an unknown reason";
}

}  // namespace heapprof::wire
