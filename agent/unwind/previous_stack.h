// agent/unwind/previous_stack.h: until when the previous stack, and what is known beside it, is true.
//
// Context:  walks; a signal handler may jump out of any of these.
#pragma once

#include "agent/libc/raw.h"
#include "agent/unwind/unwind_context.h"

#include <cstdint>

namespace heapprof::agent {

// Clears the flags of the frames from `base` on.
void clear_flags_from(UnwindContext* context, uint32_t base);
inline void clear_flags(UnwindContext* context, uint32_t base) {
  if (HEAPPROF_UNLIKELY(context->flagged != 0)) clear_flags_from(context, base);
}

// Forgets what has ended up to this age.
void grow_older(UnwindContext* context, uint32_t age);

// An object may have come to lie where there was none: frames from the outermost guessed one on are forgotten.
void forget_guesses(UnwindContext* context);

}  // namespace heapprof::agent
