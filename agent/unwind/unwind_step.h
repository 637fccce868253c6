// agent/unwind/unwind_step.h: one step by a compact rule, the inner part of every walk.
#pragma once

#include "agent/libc/raw.h"
#include "agent/unwind/unwind_context.h"

#include <cstdint>

namespace heapprof::agent {

inline constexpr uint64_t kMaxFrameBytes = 256u << 20;  // a frame that claims to be larger is rejected

inline uint64_t load_word(uint64_t avma) { return *reinterpret_cast<const uint64_t*>(avma); }
inline const uint64_t* slot_at(uint64_t avma) { return reinterpret_cast<const uint64_t*>(avma); }

// True if a frame from sp to cfa is possible.
inline bool is_plausible_frame(uint64_t sp, uint64_t cfa) { return cfa - sp - 8 < kMaxFrameBytes && (cfa & 7) == 0; }

// True if the current stack reaches up to end_avma.
inline bool is_on_stack(KnownStacks* stacks, uint64_t end_avma) {
  return HEAPPROF_LIKELY(end_avma <= stacks->current().end) || stacks->reach(end_avma);
}

inline const UnwindRule* find_rule(UnwindContext* context, uint64_t pc_avma) {
  const UnwindRule* rule = rule_slot(context, pc_avma);
  return HEAPPROF_LIKELY(rule->pc_avma == pc_avma) ? rule : find_rule_slow(context, pc_avma);
}

enum class StepResult : uint8_t { kStepped, kEndOfStack, kNotCompact, kBadFrame };

// One step by a compact rule. Unwind tables may be wrong, and in code that violates the ABI bp may hold anything. So
// the step is accepted only if the frame lies above the stack pointer and ends on the current stack of `stacks`.
[[gnu::always_inline]] inline StepResult step(const UnwindRule* rule, KnownStacks* stacks, WalkState* state) {
  uint64_t cfa;
  if (HEAPPROF_LIKELY(rule->kind == RuleKind::kCfaFromSp)) {
    cfa = state->sp + static_cast<uint64_t>(int64_t{rule->cfa_offset_bytes});
  } else if (rule->kind == RuleKind::kCfaFromBp) {
    cfa = state->bp + static_cast<uint64_t>(int64_t{rule->cfa_offset_bytes});
    if (HEAPPROF_UNLIKELY(!is_plausible_frame(state->sp, cfa))) return StepResult::kBadFrame;
  } else if (rule->kind == RuleKind::kRealigned) {
    const uint64_t slot = state->bp + static_cast<uint64_t>(int64_t{rule->cfa_offset_bytes});
    cfa = 0;
    if (HEAPPROF_LIKELY(state->bp - state->sp < kMaxFrameBytes && slot - state->sp < kMaxFrameBytes &&
                        (state->bp & 7) == 0 && is_on_stack(stacks, (slot > state->bp ? slot : state->bp) + 8)))
      cfa = load_word(slot);
    if (HEAPPROF_UNLIKELY(!is_plausible_frame(state->sp, cfa))) return StepResult::kBadFrame;
    state->bp = load_word(state->bp);
  } else {
    return rule->kind == RuleKind::kEndOfStack ? StepResult::kEndOfStack : StepResult::kNotCompact;
  }
  if (HEAPPROF_UNLIKELY(!is_on_stack(stacks, cfa))) return StepResult::kBadFrame;
  const ReturnSlot return_to = return_slot(rule->saved, cfa);
  if (HEAPPROF_UNLIKELY(!holds_return(return_to, state->sp, cfa))) return StepResult::kBadFrame;
  if (bp_offset_words(rule->saved) != 0) {
    const uint64_t slot = cfa + static_cast<uint64_t>(int64_t{bp_offset_words(rule->saved)} * 8);
    if (HEAPPROF_LIKELY(stacks->current().holds(slot))) {
      state->bp = load_word(slot);
    } else if (slot - state->sp < cfa - state->sp ? !stacks->read(slot, sizeof slot, &state->bp)
                                                  : !stacks->read_popped(state->sp, slot, &state->bp)) {
      return StepResult::kBadFrame;
    }
  }
  // Of a very large frame only the last page was checked (KnownStacks::reach).
  uint64_t return_avma = slot_avma(return_to, cfa);
  if (!kIsRecordAtFrameEnd && HEAPPROF_UNLIKELY(!stacks->current().holds(return_avma))) {
    if (!stacks->read(return_avma, sizeof return_avma, &return_avma)) return StepResult::kBadFrame;
    state->pc_avma = without_signature(return_avma);
  } else {
    state->pc_avma = load_return(return_avma);
  }
  state->sp = cfa;
  state->slot = return_to;
  return StepResult::kStepped;
}

}  // namespace heapprof::agent
