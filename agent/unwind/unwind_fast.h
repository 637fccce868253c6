// agent/unwind/unwind_fast.h: is the stack the same as the previous one, or nearly? Inlined into the hooks' common
// path; unwind.cc has the argument.
#pragma once

#include "agent/unwind/unwind_context.h"
#include "agent/unwind/unwind_step.h"

#include <cstdint>

namespace heapprof::agent {

// True if the frame is intact: the stack slot that held its return address still does.
inline bool is_intact(const Frame& frame) { return load_word(frame.sp - 8) == frame.pc_avma; }

// Counts the frames from the innermost broken one of [0, count) outwards, itself included; 0: none is broken. A frame
// is broken when the stack slot that held its return address holds something else.
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

// The same, but a changed bp or CFA slot breaks a frame, too.
uint32_t find_broken_flagged(const UnwindContext* context, uint32_t count);

inline uint32_t find_broken_any(const UnwindContext* context, uint32_t count) {
  return HEAPPROF_LIKELY(context->flagged == 0) ? find_broken(context, count) : find_broken_flagged(context, count);
}

inline bool has_same_end(const UnwindContext* context) { return *context->end_cell == 0; }

// True if bp equals that of frame `index` of the previous stack, or does not matter there.
inline bool has_same_bp(const UnwindContext* context, uint32_t index, uint64_t bp) {
  if (HEAPPROF_LIKELY(context->flagged == 0)) return true;
  return (context->flags[index] & kNeedsBp) == 0 || context->bps[index].bp == bp;
}

// True if the stack slots of all frames further out than `frame`, one of the previous stack, are unchanged. If that
// stack is plain, its frames from there on depend on nothing else.
[[gnu::always_inline]] inline bool has_same_rest(const UnwindContext* context, const Frame* frame) {
  const Frame* const last_eight = context->frames + 8;
  for (; frame >= last_eight; frame -= 8) {
    if (!is_intact(frame[-1]) || !is_intact(frame[-2]) || !is_intact(frame[-3]) || !is_intact(frame[-4])) return false;
    if (!is_intact(frame[-5]) || !is_intact(frame[-6]) || !is_intact(frame[-7]) || !is_intact(frame[-8])) return false;
  }
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
  kOtherLine,  // all but the innermost return address is the same: another line of the same function calls
  kOther,      // something else differs, or more than return addresses has to be compared
};

// Compares the stack with the previous one by return addresses alone, which suffices for most. If another line of the
// same function calls, updates the previous stack by a single store, so that a handler that jumps out leaves the one
// stack or the other. pre: the rules' age is the current one
[[gnu::always_inline]] inline Likeness compare_plain_stack(UnwindContext* context, uint64_t pc_avma, uint64_t sp) {
  // If the count is 0, this is UnwindContext::outside, whose stack pointer is impossible.
  Frame* const innermost = context->frames + context->plain_count - 1;
  if (innermost->sp != sp) return Likeness::kOther;
  if (innermost->pc_avma == pc_avma) return has_same_rest(context, innermost) ? Likeness::kSame : Likeness::kOther;
  const UnwindRule* const rule = rule_slot(context, pc_avma);
  if (rule->pc_avma != pc_avma || !rule->is_plain) return Likeness::kOther;
  // If the stack has one frame, this compares with UnwindContext::outside.
  if (sp + static_cast<uint64_t>(int64_t{rule->cfa_offset_bytes}) != innermost[-1].sp) return Likeness::kOther;
  if (!has_same_rest(context, innermost)) return Likeness::kOther;
  innermost->pc_avma = pc_avma;
  count_one(context->counters->changed_stacks);
  return Likeness::kOtherLine;
}

}  // namespace heapprof::agent
