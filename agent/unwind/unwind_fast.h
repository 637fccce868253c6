// agent/unwind/unwind_fast.h: is the stack the same as the previous one? Inlined into the hooks' common path; unwind.cc
// has the argument.
#pragma once

#include "agent/unwind/unwind_context.h"
#include "agent/unwind/unwind_step.h"

#include <cstdint>

namespace heapprof::agent {

// True if the frame is intact: the cell that held its return address still does.
inline bool is_intact(const Frame& frame) { return load_word(frame.sp - 8) == frame.pc_avma; }

// Counts the frames from the innermost broken one of [0, count) outwards, itself included; 0: none is broken. A frame
// is broken when the stack cell that held its return address holds something else.
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

// The same, where a changed bp or CFA cell breaks a frame, too.
uint32_t find_broken_flagged(const UnwindContext* context, uint32_t count);

inline uint32_t find_broken_any(const UnwindContext* context, uint32_t count) {
  return HEAPPROF_LIKELY(context->flagged == 0) ? find_broken(context, count) : find_broken_flagged(context, count);
}

inline bool has_same_end(const UnwindContext* context) { return *context->end_cell == 0; }

// True if bp is as in frame `index` of the previous stack, or does not matter there.
inline bool has_same_bp(const UnwindContext* context, uint32_t index, uint64_t bp) {
  if (HEAPPROF_LIKELY(context->flagged == 0)) return true;
  return (context->flags[index] & kNeedsBp) == 0 || context->bps[index].bp == bp;
}

// True if return addresses alone show that the stack is as before, as they do for most. False: it is not, or more has
// to be looked at. pre: the rules' age is the current one
[[gnu::always_inline]] inline bool is_same_plain_stack(const UnwindContext* context, uint64_t pc_avma, uint64_t sp) {
  const uint32_t count = context->plain_count;
  if (HEAPPROF_UNLIKELY(count == 0)) return false;
  const Frame* const first = context->frames;
  const Frame* frame = first + count - 1;
  if (frame->pc_avma != pc_avma || frame->sp != sp) return false;
  for (; frame >= first + 4; frame -= 4) {
    if (!is_intact(frame[-1]) || !is_intact(frame[-2]) || !is_intact(frame[-3]) || !is_intact(frame[-4])) return false;
  }
  while (frame != first) {
    if (!is_intact(*--frame)) return false;
  }
  return HEAPPROF_LIKELY(has_same_end(context));
}

}  // namespace heapprof::agent
