// agent/arch/x86_64/inner_entry.h: the entry of a hooked function inside the executable (hooks/inner.h): assembly
// around two calls of C++.
// The ABI says which registers a function may change, but a compiler knows more. With -fipa-ra, which GCC has from -O1
// on, a caller in the same file keeps values in registers that this very function does not change. It may also call the
// function with a stack that is aligned only as far as that function needs. So only the function itself may change
// registers. The agent's code touches no vector registers, and preserves them when it calls other code
// (libc/vector_state.h). The flags register is the one exception: GCC and LLVM assume that every call overwrites it.
//
// Guarantees
//  - The function finds all registers as its caller left them, and its caller as the function did
//    (tests/integration/malloc/inner_registers.sh).
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

inline constexpr size_t kInnerParameters = 6;

// One call; lies on the stack. The members from `given` to `r11`, except `one`, are registers: before the call as the
// caller left them, after it as the function left them.
struct InnerCall {
  uint64_t outer_frame;  // t_allocator_frame before the call
  size_t old;            // the block that ends, or the text that is copied; 0: none
  size_t bytes;
  size_t out;  // another argument that is needed after the call
  uint32_t index;
  bool has_begun;    // the old block's end is recorded
  bool is_recorded;  // the call may begin a block
  size_t given[kInnerParameters];
  size_t one;  // 1: the factor of a size that has no count
  size_t result;
  uint64_t r10, r11;
  uint64_t real;      // at first the function's number
  uint64_t frame[2];  // the caller's rbp, and where the call returns to
};
static_assert(offsetof(InnerCall, given) == 40 && offsetof(InnerCall, one) == 88 && offsetof(InnerCall, result) == 96 &&
              offsetof(InnerCall, real) == 120 && offsetof(InnerCall, frame) == 128);

// The value that the caller had in the register; 0: it is not known. kept: rbx, r12 to r15; nullptr: these are not
// known.
inline uint64_t value_of_register(uint32_t number, const InnerCall& call, const uint64_t* kept) {
  switch (number) {
    case 0: return call.result;  // rax, before the call
    case 1: return call.given[3];
    case 2: return call.given[2];
    case 3: return kept != nullptr ? kept[0] : 0;
    case 5: return call.frame[0];
    case 6: return call.given[1];
    case 7: return call.given[0];
    case 8: return call.given[4];
    case 9: return call.given[5];
    case 10: return call.r10;
    case 11: return call.r11;
    case 12:
    case 13:
    case 14:
    case 15: return kept != nullptr ? kept[number - 11] : 0;
    default: return 0;
  }
}
inline constexpr uint32_t kKeptRegisters = 1u << 3 | 0xfu << 12;

// ---- A function's thunk, which is near the executable's code: the entry, then the function's relocated prologue ----

inline constexpr size_t kInnerEntryBytes = 12;

// Puts the distance from the end of an instruction to an address into the instruction. False: it is out of reach.
inline bool put_distance(unsigned char* at, const unsigned char* end, uint64_t to_avma) {
  const auto distance = static_cast<int64_t>(to_avma - reinterpret_cast<uint64_t>(end));
  const auto short_distance = static_cast<int32_t>(distance);
  if (short_distance != distance) return false;
  __builtin_memcpy(at, &short_distance, sizeof short_distance);
  return true;
}

// Writes the entry: it says to heapprof_inner which function was called, and jumps to the address stored at *target.
// False: that is out of reach.
inline bool write_inner_entry(unsigned char* entry, uint32_t index, const void* target) {
  constexpr unsigned char kCode[] = {0x55, 0xbd, 0, 0, 0, 0, 0xff, 0x25};  // push rbp; mov ebp, index; jmp *target
  __builtin_memcpy(entry, kCode, sizeof kCode);
  __builtin_memcpy(entry + 2, &index, sizeof index);
  return put_distance(entry + sizeof kCode, entry + kInnerEntryBytes, reinterpret_cast<uint64_t>(target));
}

// Makes the jump that is written over the function's first instructions at an address. pre: the thunk is within reach.
inline void make_jump(unsigned char (&code)[5], uint64_t at_avma, const unsigned char* thunk) {
  code[0] = 0xe9;
  put_distance(code + 1, reinterpret_cast<const unsigned char*>(at_avma) + sizeof code,
               reinterpret_cast<uint64_t>(thunk));
}

}  // namespace heapprof::agent

extern "C" {
// Where entries jump to, with rbp pushed, the function's number in ebp, and the rest as its caller left it.
__attribute__((visibility("hidden"))) void heapprof_inner();
// Where functions return to.
__attribute__((visibility("hidden"))) extern const char heapprof_inner_returned[];
}
