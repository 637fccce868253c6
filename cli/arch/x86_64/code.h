// cli/arch/x86_64/code.h: which programs the tool is for, and what it recognizes in their code.
//
// Trust:    bytes may be anything; a wrong guess gives a wrong target, which the caller looks up.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace heapprof::cli {

// ---- ELF files ----

inline constexpr uint16_t kElfMachine = EM_X86_64;
inline constexpr uint32_t kRelativeRelocation = R_X86_64_RELATIVE;
// Words for the user: which programs these are, and how to build one.
inline constexpr char kProgramKind[] = "64-bit x86";
inline constexpr char kBuildAdvice[] = "build the program for x86-64 (-m64)";
inline constexpr bool kValgrindRuns32BitX86 = true;  // on this processor

// ---- Allocators inside programs (cli/inner) ----

inline constexpr bool kRelocatesPrologues = true;

// ---- Calls ----
//
// Instructions cannot be decoded backwards, so every possible length of a call through a pointer is tried: if one fits,
// the five bytes of a direct call may be a part of it.

inline constexpr size_t kLongestCall = 7;  // FF, ModRM, SIB, four bytes; a prefix before it changes nothing

// Length of "call through a register or memory" (FF /2), by its ModRM and SIB bytes; 0: another instruction.
inline size_t indirect_length(std::span<const uint8_t> code) {
  if (code.size() < 2 || code[0] != 0xff || (code[1] >> 3 & 7) != 2) return 0;
  const unsigned mode = code[1] >> 6;
  const unsigned base = code[1] & 7;
  if (mode == 3) return 2;
  const bool has_sib = base == 4;
  if (has_sib && code.size() < 3) return 0;
  const bool has_no_base = has_sib ? (code[2] & 7) == 5 : base == 5;
  const size_t displacement = mode == 1 ? 1 : mode == 2 || has_no_base ? 4 : 0;
  return 2 + (has_sib ? 1 : 0) + displacement;
}

// The distance from the end of `code` to the target of its last instruction; 0: no direct call (E8), or one whose bytes
// may also be the end of a call through a pointer.
inline int64_t direct_call_distance(std::span<const uint8_t> code) {
  constexpr size_t kDirectBytes = 5;
  if (code.size() < kDirectBytes || code[code.size() - kDirectBytes] != 0xe8) return 0;
  for (size_t length = 2; length <= std::min(kLongestCall, code.size()); ++length) {
    if (indirect_length(code.last(length)) == length) return 0;
  }
  int32_t distance = 0;
  std::memcpy(&distance, code.data() + code.size() - sizeof distance, sizeof distance);
  return distance;
}

}  // namespace heapprof::cli
