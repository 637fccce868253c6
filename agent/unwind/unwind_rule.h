// agent/unwind/unwind_rule.h: how to step from a frame to its caller, in 16 bytes; this form suffices for nearly every
// frame.
//
// Equations, with sp and bp as they are in the frame; in each, the caller's sp is cfa, and its program counter is
// loaded from return_slot(saved, cfa) (arch/*/frames.h; on x86-64 the word below the CFA):
//   kCfaFromSp   cfa = sp + cfa_offset_bytes
//   kCfaFromBp   cfa = bp + cfa_offset_bytes
//   kRealigned   cfa = *(bp + cfa_offset_bytes); the caller's bp is *bp
//                (a stack realigned for over-aligned variables)
// In the first two kinds, the caller's bp is *(cfa + 8 · bp_offset_words(saved)); if that is 0, bp is unchanged.
//
// Everything else is kSpecial; cfi_interpreter.h handles it.
#pragma once

#include "agent/arch/arch.h"
#include "agent/unwind/cfi_program.h"

#include <cstdint>

namespace heapprof::agent {

enum class RuleKind : uint8_t {
  kEndOfStack = 0,  // the outermost frame. Zeroed memory is a rule of this kind, for program counter 0
  kCfaFromSp = 1,
  kCfaFromBp = 2,
  kRealigned = 3,
  kSpecial = 4,       // needs the interpreter
  kNoUnwindInfo = 5,  // no call frame information describes the frame
};

struct StepRule {
  int32_t cfa_offset_bytes;  // a multiple of 8; in kCfaFromSp at least 8
  int16_t saved;             // what the function saved, and where, as the processor's frames.h says
  RuleKind kind;
  bool is_plain;  // the kind is kCfaFromSp, and the step reads only the frame itself; set when a thread keeps the rule
};
static_assert(sizeof(StepRule) == 8);

struct UnwindRule : StepRule {
  uint64_t pc_avma;  // a return address, or the address of an interrupted instruction + 1
};
static_assert(sizeof(UnwindRule) == 16);

// Limits of a compact rule (rule_cache.h packs the values); a rule with larger values is kSpecial.
inline constexpr int64_t kMaxCfaOffsetBytes = 8 * ((1 << (31 - kSavedBits)) - 1);
inline constexpr int64_t kMaxSaved = (1 << (kSavedBits - 1)) - 1;

// The rule for pc_avma. *is_cacheable is false if no object holds the address, because an object may be loaded there
// later.
UnwindRule make_rule(uint64_t pc_avma, uint32_t generation, CfiWorkspace* workspace, bool* is_cacheable);

// The rule of a row: kEndOfStack, kSpecial or a compact one.
StepRule reduce_row(const FrameDescription& description, const CfiRow& row);
// Reduces a row of a frame that is not the outermost one to a compact rule. False: it cannot be. (In agent/arch.)
bool reduce_ordinary(const FrameDescription& description, const CfiRow& row, StepRule* rule);

// True if the frame called another one and did not save the register in which it got its own return address.
bool has_lost_return(uint64_t pc_avma, const FrameDescription& description, const CfiRow& row);

// True if the function at the address begins by switching to another stack (code.h). If the address was stored as a
// return address, no call returns to it, and the stack ends there.
bool leaves_stack(uint64_t pc_avma);

// Code that has no call frame information on some processors: true if a signal handler returns to the address …
bool returns_from_handler(uint64_t pc_avma);
// Makes that work for the kernel's code also under a filter of system calls. pre: start-up
void find_handler_return();
// … or if a signal interrupted a stub of a procedure linkage table there.
bool is_interrupted_stub(uint64_t pc_avma);

// Finds the description of the frame at pc_avma, and the address whose row applies.
enum class FrameSearch : uint8_t {
  kFound,
  kNoModule,
  kNotDescribed,  // in a module, but without call frame information
  kEndOfStack,    // likewise, at the entry of a program or of the loader
};
FrameSearch find_frame(uint64_t pc_avma, uint32_t generation, FrameDescription* description, uint64_t* row_avma);

}  // namespace heapprof::agent
