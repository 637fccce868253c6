// cli/arch/aarch64/code.h: which programs the tool is for, and what it recognizes in their code.
//
// Trust:    bytes may be anything; a wrong guess gives a wrong target, which the caller looks up.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace heapprof::cli {

// ---- ELF files ----

inline constexpr uint16_t kElfMachine = EM_AARCH64;
inline constexpr uint32_t kRelativeRelocation = R_AARCH64_RELATIVE;
// Words for the user: which programs these are, and how to build one.
inline constexpr char kProgramKind[] = "64-bit Arm";
inline constexpr char kBuildAdvice[] = "build the program for aarch64 (CC=aarch64-linux-gnu-gcc)";
inline constexpr bool kValgrindRuns32BitX86 = false;  // on this processor

// ---- Allocators inside programs (cli/inner) ----

inline constexpr bool kRelocatesPrologues = false;

// ---- Calls ----

inline constexpr size_t kLongestCall = 4;  // all instructions have this length

// The distance from the end of `code` to the target of its last instruction; 0: no direct call (`bl`). The instruction
// has the distance from its own start, in instructions, as 26 signed bits. A call through a register is `blr`, and none
// of its forms has these six leading bits.
inline int64_t direct_call_distance(std::span<const uint8_t> code) {
  constexpr uint32_t kOperationBits = 0xfc00'0000;
  constexpr uint32_t kBranchWithLink = 0x9400'0000;
  uint32_t instruction = 0;
  if (code.size() < sizeof instruction) return 0;
  std::memcpy(&instruction, code.data() + code.size() - sizeof instruction, sizeof instruction);
  if ((instruction & kOperationBits) != kBranchWithLink) return 0;
  const int32_t from_start = static_cast<int32_t>(instruction << 6) >> 4;  // in bytes
  return int64_t{from_start} - int64_t{sizeof instruction};
}

}  // namespace heapprof::cli
