// shared/allocator_functions.h: what a function of an allocator does, and what its parameters are.
//
// The agent makes hooks from it (agent/hooks/allocator_names.h, agent/hooks/inner.h), and the tool makes its plan from
// it (cli/inner). All parameters and results are one register wide.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapprof::wire {

// What a function does; shared/allocator_names.def explains each kind.
enum class AllocatorKind : uint8_t {
  Allocate,
  AllocateInto,
  CopyText,
  Release,
  Reallocate,
  ReallocateOrFree,
  ReallocateInto,
  Resize,
  EndHeap
};
enum class AllocatorRole : uint8_t { None, Size, Count, Block, Alignment, Out, Heap, Text, Extra, Other };

inline constexpr size_t kAllocatorParameters = 6;

struct AllocatorFunction {
  AllocatorKind kind;
  AllocatorRole roles[kAllocatorParameters];

  constexpr size_t index_of(AllocatorRole role) const {
    size_t i = 0;
    while (i < kAllocatorParameters && roles[i] != role) ++i;
    return i;  // kAllocatorParameters: no parameter has the role
  }
  constexpr bool has(AllocatorRole role) const { return index_of(role) < kAllocatorParameters; }
};
static_assert(sizeof(AllocatorFunction) == 7);

constexpr AllocatorFunction allocator_function(AllocatorKind kind, AllocatorRole a,
                                               AllocatorRole b = AllocatorRole::None,
                                               AllocatorRole c = AllocatorRole::None,
                                               AllocatorRole d = AllocatorRole::None,
                                               AllocatorRole e = AllocatorRole::None,
                                               AllocatorRole f = AllocatorRole::None) {
  return {kind, {a, b, c, d, e, f}};
}

}  // namespace heapprof::wire
