// agent/unwind/unwind_fast.h: checks whether the stack is the same as the previous one, or nearly so. Inlined into the
// hooks' common path; unwind.cc explains why the check suffices.
#pragma once

#include "agent/unwind/unwind_context.h"
#include "agent/unwind/unwind_step.h"

#include <cstdint>

namespace heapprof::agent {

// True if the frame is intact: the stack slot that held its return address still holds it.
inline bool is_intact(const Frame& frame) { return load_return(frame.return_avma()) == frame.pc_avma; }

// True if the rule leads from a frame at sp to `outer`, and finds its return address in the same slot.
inline bool leads_to(const UnwindRule& rule, uint64_t sp, const Frame& outer) {
  const uint64_t cfa = sp + static_cast<uint64_t>(int64_t{rule.cfa_offset_bytes});
  return cfa == outer.sp && return_slot(rule.saved, cfa) == outer.slot;
}

// Returns i + 1 for the innermost broken frame i of [0, count); 0: all are intact. A frame is broken if the stack slot
// that held its return address holds something else.
inline uint32_t find_broken(const UnwindContext* context, uint32_t count) {
  const Frame* const first = context->frames;
  const Frame* frame = first + count;
  const Frame* const last_four = first + 4;
  while (frame >= last_four) {
    frame -= 4;
    if (HEAPPROF_UNLIKELY(!is_intact(frame[3]))) return static_cast<uint32_t>(frame - first) + 4;
    if (HEAPPROF_UNLIKELY(!is_intact(frame[2]))) return static_cast<uint32_t>(frame - first) + 3;
    if (HEAPPROF_UNLIKELY(!is_intact(frame[1]))) return static_cast<uint32_t>(frame - first) + 2;
    if (HEAPPROF_UNLIKELY(!is_intact(frame[0]))) return static_cast<uint32_t>(frame - first) + 1;
  }
  for (; frame != first; --frame) {
    if (HEAPPROF_UNLIKELY(!is_intact(frame[-1]))) return static_cast<uint32_t>(frame - first);
  }
  return 0;
}

// The same, but a frame is also broken if its bp slot or CFA slot changed.
uint32_t find_broken_flagged(const UnwindContext* context, uint32_t count);

inline uint32_t find_broken_any(const UnwindContext* context, uint32_t count) {
  return HEAPPROF_LIKELY(context->flagged == 0) ? find_broken(context, count) : find_broken_flagged(context, count);
}

inline bool has_same_end(const UnwindContext* context) {
  return load_return(reinterpret_cast<uint64_t>(context->end_slot)) == 0;
}

// True if bp equals that of frame `index` of the previous stack, or does not matter there.
inline bool has_same_bp(const UnwindContext* context, uint32_t index, uint64_t bp) {
  if (HEAPPROF_LIKELY(context->flagged == 0)) return true;
  return (context->flags[index] & kNeedsBp) == 0 || context->bps[index].bp == bp;
}

// True if the return address slots of all frames further out than `frame` are unchanged. `frame` belongs to the
// previous stack. If the previous stack is plain, the frames further out depend on nothing else.
[[gnu::always_inline]] inline bool has_same_rest(const UnwindContext* context, const Frame* frame) {
  const Frame* const last_eight = context->frames + 8;
  for (; frame >= last_eight; frame -= 8) {
    if (!is_intact(frame[-1]) || !is_intact(frame[-2]) || !is_intact(frame[-3]) || !is_intact(frame[-4])) return false;
    if (!is_intact(frame[-5]) || !is_intact(frame[-6]) || !is_intact(frame[-7]) || !is_intact(frame[-8])) return false;
  }
  static_assert((sizeof(Frame) & (sizeof(Frame) - 1)) == 0, "the bits of rest_bytes count the frames that are left");
  const auto rest_bytes = reinterpret_cast<uint64_t>(frame) - reinterpret_cast<uint64_t>(context->frames);
  if ((rest_bytes & 4 * sizeof(Frame)) != 0) {
    if (!is_intact(frame[-1]) || !is_intact(frame[-2]) || !is_intact(frame[-3]) || !is_intact(frame[-4])) return false;
    frame -= 4;
  }
  if ((rest_bytes & 2 * sizeof(Frame)) != 0) {
    if (!is_intact(frame[-1]) || !is_intact(frame[-2])) return false;
    frame -= 2;
  }
  if ((rest_bytes & sizeof(Frame)) != 0 && !is_intact(frame[-1])) return false;
  return HEAPPROF_LIKELY(has_same_end(context));
}

// How a stack compares with the previous one.
enum class Likeness : uint8_t {
  kSame,
  kOtherLine,  // only the innermost return address differs: another line of the same function calls
  kOther,      // something else differs, or comparing return addresses does not suffice
};

// Compares the stack with the previous one by return addresses alone, which suffices for most stacks. For kOtherLine,
// updates the previous stack with a single store: if a signal handler jumps out, either the old or the new stack is
// left. pre: the rules belong to the current generation
[[gnu::always_inline]] inline Likeness compare_plain_stack(UnwindContext* context, uint64_t pc_avma, uint64_t sp) {
  // If the count is 0, this is UnwindContext::outside, whose stack pointer is impossible.
  Frame* const innermost = context->frames + context->plain_count - 1;
  if (innermost->sp != sp) return Likeness::kOther;
  if (innermost->pc_avma == pc_avma) return has_same_rest(context, innermost) ? Likeness::kSame : Likeness::kOther;
  const UnwindRule* const rule = rule_slot(context, pc_avma);
  if (rule->pc_avma != pc_avma || !rule->is_plain) return Likeness::kOther;
  // If the stack has one frame, this compares with UnwindContext::outside.
  if (!leads_to(*rule, sp, innermost[-1])) return Likeness::kOther;
  if (!has_same_rest(context, innermost)) return Likeness::kOther;
  innermost->pc_avma = pc_avma;
  count_one(context->counters->changed_stacks);
  return Likeness::kOtherLine;
}

}  // namespace heapprof::agent
